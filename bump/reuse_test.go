package bump_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// garbage returns numbers that look like pointers: to live objects and into
// them, to dead ones, behind the last object of a span, and into spans that are
// not in use any more.
func garbage() []uintptr {
	var words []uintptr
	add := func(p unsafe.Pointer, offsets ...uintptr) {
		for _, off := range offsets {
			words = append(words, uintptr(p)+off)
		}
	}
	for range 50 {
		live := new([4]*byte)
		kept = append(kept, live)
		add(unsafe.Pointer(live), 0, 8, 17)
		add(unsafe.Pointer(new([100]*byte)), 0, 64)
		// The heap takes whole pages for such an object; behind it is nothing.
		tail := new([40_000]byte)
		kept = append(kept, tail)
		add(unsafe.Pointer(tail), 40_000, 40_008)
		span := new([1 << 20]byte)
		sink = span
		add(unsafe.Pointer(span), 0, 8192, 1<<19)
	}
	sink = nil
	testkit.CollectGarbage()
	return words
}

// kept makes what garbage points to stay.
var kept []any

// A joint is an object with pointers where there were numbers.
type joint struct {
	a, b *joint
	name string
	more []*joint
}

// scribble fills the arena's chunk with garbage from both ends.
func scribble(a *bump.Arena, words []uintptr) {
	for i := range 40 {
		copy(bump.MakeSlice[uintptr](a, 16, 16), words[i*len(words)/48:])
		copy(bump.New[[32]uintptr](a)[:], words[i*len(words)/52:])
		s := bump.Append(a, nil, words[:i]...)
		bump.Append(a, s, words[:i]...)
	}
}

// connect stores pointers over the same memory in every way there is: word by
// word, as whole values, and by copying slices.
func connect(a *bump.Arena) {
	name := bump.String(a, "joint")
	first := bump.New[joint](a)
	for range 40 {
		j := bump.New[joint](a)
		j.a = first
		j.b = j
		j.name = name
		first.a = j
		k := bump.NewFrom(a, joint{a: j, b: first, name: name})
		s := bump.MakeSlice[*joint](a, 8, 8)
		s[0], s[7] = j, k
		j.more = bump.Append(a, s, j, k)
		u := bump.Append(a, nil, *j, *k)
		bump.Append(a, u, *first)
	}
}

// TestReuseAsPointers stores pointers where numbers were before a Reset, while
// the garbage collector marks. The write barrier reads the old value of each
// word and takes it for a pointer, so Reset has to clear.
//
// Seen to fail with both calls of clear in block.clear (arena.go) removed: in
// each of a dozen runs, among them go1.24 to go1.27, -race and 386, the child
// ended within a second with "runtime: pointer 0x… to unallocated span", or "to
// unused region of span", and "fatal error: found bad pointer in Go heap
// (incorrect use of unsafe or cgo?)". Either of the two calls removed alone ends
// it in the same way, seen on go1.26.
func TestReuseAsPointers(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GODEBUG=clobberfree=1,invalidptr=1")
		return
	}
	live, cycles := 2_000_000, 12
	if testing.Short() {
		live, cycles = 500_000, 6
	}
	// A list is marked one by one, so the marker is busy nearly all the time.
	type ring struct{ next *ring }
	var list *ring
	for range live {
		list = &ring{list}
	}
	words := garbage()
	var a bump.Arena
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range cycles {
			runtime.GC()
		}
	}()
	for rounds := 0; ; rounds++ {
		scribble(&a, words)
		a.Reset()
		connect(&a)
		a.Reset()
		select {
		case <-done:
			runtime.KeepAlive(list)
			t.Logf("%d rounds", rounds)
			if s := a.Stats(); s.Chunks != 1 {
				t.Errorf("nothing was reused: %v", s)
			}
			return
		default:
		}
	}
}
