package track_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/track"
)

// A block is an object of Go's heap by itself.
type block struct {
	next *block
	n    [6]int
}

// marks returns those of a pool, the word that they hook, and a function that makes an
// object and marks it if one is to be.
func marks() (m *track.Marks, hooks *atomic.Uint32, get func() *block) {
	m, hooks = new(track.Marks), new(atomic.Uint32)
	m.Open(hooks)
	m.Watch()
	return m, hooks, func() *block {
		b := new(block)
		if m.Claim() {
			m.Mark(unsafe.Pointer(b), (*byte)(unsafe.Pointer(b)), true)
		}
		return b
	}
}

func unmark(m *track.Marks, b *block) bool {
	return m.Unmark(unsafe.Pointer(b), (*byte)(unsafe.Pointer(b)))
}

func wantHooks(t *testing.T, when string, hooks *atomic.Uint32, want uint32) {
	t.Helper()
	if got := hooks.Load(); got != want {
		t.Fatalf("%s: hooks are %#b, want %#b", when, got, want)
	}
}

// One object in a collection is marked, and fast paths are left out for no longer than
// it takes.
func TestMarksOne(t *testing.T) {
	rates(t, 0, 0)
	m, hooks, get := marks()
	wantHooks(t, "nobody watches", hooks, 0)
	stale.SampleEvery(2)
	m.Sample(2)
	wantHooks(t, "an object is drawn", hooks, track.HookOut)
	marked, other := get(), get()
	wantHooks(t, "it is in use", hooks, track.HookBack)
	m.Sample(1 << 20)
	wantHooks(t, "others are drawn meanwhile", hooks, track.HookBack)
	if unmark(m, other) || !unmark(m, marked) || unmark(m, marked) {
		t.Error("another object is marked")
	}
	wantHooks(t, "it is back", hooks, 0)
}

// A mark that does not come back is given up after a few collections, unless all are
// watched.
func TestMarksPatience(t *testing.T) {
	rates(t, 2, 0)
	m, hooks, get := marks()
	m.Sample(2)
	lost := get()
	stale.SampleEvery(0)
	end := stale.All()
	for range 100 {
		m.Sample(2)
	}
	end()
	wantHooks(t, "all were watched", hooks, track.HookBack)
	for range 8 {
		wantHooks(t, "it may come back", hooks, track.HookBack)
		m.Sample(2)
	}
	wantHooks(t, "it does not", hooks, 0)
	if unmark(m, lost) {
		t.Error("it is still marked")
	}
}

// An address that something else has got is not marked.
func TestMarksAddress(t *testing.T) {
	rates(t, 2, 0)
	m, _, get := marks()
	m.Sample(2)
	a, b := get(), new(block)
	if m.Unmark(unsafe.Pointer(a), (*byte)(unsafe.Pointer(b))) {
		t.Error("the memory is that of another object")
	}
}

// All are marked where all are watched, but not without bound, and none of a pool whose
// objects are not of Go's heap.
func TestMarksAll(t *testing.T) {
	rates(t, 0, 0)
	m, hooks, get := marks()
	wantHooks(t, "nobody watches", hooks, 0)
	defer stale.All()()
	wantHooks(t, "all are watched", hooks, track.HookOut)
	const most = 1 << 16
	list := make([]*block, most)
	for i := range list {
		list[i] = get()
	}
	wantHooks(t, "there are many", hooks, track.HookBack)
	if last := get(); unmark(m, last) {
		t.Error("one more is marked")
	}
	for i, b := range list {
		if !unmark(m, b) {
			t.Fatalf("object %d is not marked", i)
		}
	}
	wantHooks(t, "all are back", hooks, track.HookOut)
	if !m.Claim() {
		t.Error("none is to be marked")
	}
	m.Mark(unsafe.Pointer(new(block)), nil, false)
	wantHooks(t, "they are of other memory", hooks, 0)
	if m.Claim() {
		t.Error("it is asked again")
	}
	runtime.KeepAlive(m)
}

// Bits of others stay.
func TestHooksOfOthers(t *testing.T) {
	rates(t, 0, 0)
	var m track.Marks
	var hooks atomic.Uint32
	hooks.Store(track.HookOptions)
	m.Open(&hooks)
	end := stale.All()
	m.Watch()
	wantHooks(t, "all are watched", &hooks, track.HookOptions|track.HookOut)
	end()
	wantHooks(t, "none is", &hooks, track.HookOptions)
}
