package bump_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// hostile is an environment in which memory that is collected too early shows:
// it is overwritten, and collections never end.
var hostile = []string{"GODEBUG=clobberfree=1", "GOGC=1"}

// A bead is one of a ring of objects that fill an arena: whoever holds one can
// read all.
type bead struct {
	next *bead
	text string
	id   int
	_    [5]int
}

const beads = 60 // in several chunks

// newRing fills an arena with beads, and returns the arena and a pointer to the
// which-th place of interest in its chunks, of which there are places: the
// first, a middle and the last byte handed out in each. bead is how far in front
// of it its bead begins.
func newRing(died func()) (a *bump.Arena, at func(which int) (p unsafe.Pointer, bead uintptr), places int) {
	a = new(bump.Arena)
	var all []*bead
	for i := range beads {
		b := bump.NewFrom(a, bead{id: i, text: bump.String(a, fmt.Sprint("bead ", i))})
		if i > 0 {
			b.next = all[0]
			all[i-1].next = b
		} else {
			b.next = b
		}
		all = append(all, b)
	}
	runtime.AddCleanup(bump.RootOf(a), func(f func()) { f() }, died)
	chunks := bump.Extents(a)
	at = func(which int) (unsafe.Pointer, uintptr) {
		c := chunks[which/3%len(chunks)]
		var in []*bead // from the last address to the first
		for _, b := range all {
			if uintptr(unsafe.Pointer(b))-uintptr(c.Data) < c.Size {
				in = append(in, b)
			}
		}
		const size = unsafe.Sizeof(bead{})
		switch which % 3 {
		case 0:
			return unsafe.Pointer(in[len(in)-1]), 0
		case 1:
			return unsafe.Add(unsafe.Pointer(in[len(in)/2]), size/2), size / 2
		}
		return unsafe.Add(unsafe.Pointer(in[0]), size-1), size - 1
	}
	return a, at, 3 * len(chunks)
}

// readRing reads a whole ring from one bead on.
func readRing(t *testing.T, b *bead) {
	t.Helper()
	for i, id := 0, b.id; i < beads; i, b = i+1, b.next {
		if want := (id + i) % beads; b.id != want || b.text != fmt.Sprint("bead ", want) {
			t.Fatalf("%d beads on from bead %d: %d %q", i, id, b.id, b.text)
		}
	}
}

// TestAnyPointerKeepsAll holds one interior pointer into each of many arenas,
// another place in each, and neither the arenas nor anything else.
func TestAnyPointerKeepsAll(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, hostile...)
		return
	}
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	var died atomic.Int64
	type held struct {
		p    unsafe.Pointer
		bead uintptr
	}
	kept := make([]held, n)
	stop := testkit.Hammer()
	places := 0
	for i := range kept {
		a, at, k := newRing(func() { died.Add(1) })
		kept[i].p, kept[i].bead = at(i)
		if places = k; i%5 == 0 {
			a.Free()
		}
	}
	stop()
	if places < 9 {
		t.Fatalf("an arena has %d places, want three in each of several chunks", places)
	}
	testkit.CollectGarbage()
	for _, h := range kept {
		readRing(t, (*bead)(unsafe.Add(h.p, -int(h.bead))))
	}
	if d := died.Load(); d != 0 {
		t.Fatalf("%d of %d arenas died while a pointer was held", d, n)
	}

	// Half are dropped; the others stay.
	for i := range kept[:n/2] {
		kept[i] = held{}
	}
	testkit.CollectGarbage()
	for _, h := range kept[n/2:] {
		readRing(t, (*bead)(unsafe.Add(h.p, -int(h.bead))))
	}
	if d := died.Load(); d > int64(n/2) {
		t.Fatalf("%d arenas died, %d were dropped", d, n/2)
	}
	runtime.KeepAlive(kept)
	kept = nil
	testkit.CollectGarbage()
	testkit.Eventually(t, "the cleanups of all arenas have run", func() bool { return died.Load() == int64(n) })
}

// TestHugeChunkKeepsAll holds a pointer into a chunk of a size whose type is made at
// run time, which keeps the other chunks as any other does.
func TestHugeChunkKeepsAll(t *testing.T) {
	var census testkit.Census
	hugeOf := func() unsafe.Pointer {
		var a bump.Arena
		bump.New[int](&a) // in a chunk of its own
		testkit.Enroll(&census, bump.RootOf(&a))
		return a.Alloc(130<<20, 8) // never touched, so the system gives no memory for it
	}
	p := hugeOf()
	for range 3 {
		testkit.CollectGarbage()
	}
	if n := census.Alive(); n != 1 {
		t.Error("the root died while a pointer into the huge chunk was held")
	}
	runtime.KeepAlive(p)
	testkit.Eventually(t, "all goes with the last pointer", func() bool { return census.Alive() == 0 })
}

// TestDroppedArenasGo is about the other half: nothing in the cycle of arena,
// root and chunks keeps itself alive.
func TestDroppedArenasGo(t *testing.T) {
	const n = 10_000
	var census testkit.Census
	var cleaned atomic.Int64
	for i := range n {
		var a bump.Arena
		if i%4 == 1 {
			bump.New[bead](&a)
			a.Reset()
		}
		for range 1 + i%100 {
			bump.New[bead](&a).text = bump.String(&a, "some text")
		}
		r := testkit.Enroll(&census, bump.RootOf(&a))
		runtime.AddCleanup(r, func(int) { cleaned.Add(1) }, i)
		if i%4 == 0 {
			a.Free()
		}
	}
	testkit.CollectGarbage() // two collections
	if alive := census.Alive(); alive > n/100 {
		t.Errorf("%d of %d dropped arenas live after two collections", alive, n)
	}
	testkit.Eventually(t, "99 % of the cleanups have run", func() bool { return cleaned.Load() >= n*99/100 })
}

// TestHeapStaysFlat drops a million arenas.
func TestHeapStaysFlat(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	least := ^uint64(0)
	for i := range n {
		var a bump.Arena
		b := bump.New[bead](&a)
		b.next = b
		bump.MakeSlice[*bead](&a, 5, 10)[0] = b
		if i%(n/10) == n/10-1 {
			h := testkit.HeapInUse()
			if least = min(least, h); h > least+1<<20+least/16 { // the check build has 64 MiB in quarantine
				t.Fatalf("after %d arenas %d bytes are in use, once there were %d", i, h, least)
			}
		}
	}
}

// TestNoFinalizers lets the runtime look for finalizers and cleanups that keep
// what they are attached to alive, from go1.25 on; earlier ones ignore it.
func TestNoFinalizers(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GODEBUG=checkfinalizers=1")
		return
	}
	var died atomic.Int64
	for range 100 {
		a, _, _ := newRing(func() { died.Add(1) })
		runtime.AddCleanup(a, func(int) {}, 0)
	}
	testkit.CollectGarbage()
	testkit.Eventually(t, "all arenas are gone", func() bool { return died.Load() == 100 })
}

//go:noinline
func newObject() (bits uintptr, w weak.Pointer[[2]*byte]) {
	p := new([2]*byte)
	return uintptr(unsafe.Pointer(p)), weak.Make(p)
}

// TestOneWordIsScanned fills chunks of every size with the address of a heap
// object, which must not keep it.
func TestOneWordIsScanned(t *testing.T) {
	for _, total := range bump.ChunkSizes() {
		if testing.Short() && total > 1<<20 || total > 32<<20 {
			continue
		}
		var a bump.Arena
		s := bump.MakeSlice[uintptr](&a, 1, 1)
		if n := total - uintptr(bump.Overhead) - 64; total > 512 {
			s = bump.MakeSlice[uintptr](&a, int(n/unsafe.Sizeof(s[0])), int(n/unsafe.Sizeof(s[0])))
		}
		bits, w := newObject()
		for i := range s {
			s[i] = bits
		}
		for range 4 {
			*bump.New[uintptr](&a) = bits
		}
		testkit.CollectGarbage()
		if w.Value() != nil {
			t.Errorf("a chunk for %d bytes keeps what its words look like", total)
		}
		// The words and the arena were there all the time.
		if s[0] != bits || s[len(s)-1] != bits {
			t.Errorf("a chunk for %d bytes changed", total)
		}
		runtime.KeepAlive(&a)
	}
}

// TestScanWork counts what a collection looks at: the bytes up to the last
// pointer of each object that it marks.
func TestScanWork(t *testing.T) {
	testkit.NeedsReuse(t)
	scanned := func() uint64 {
		testkit.CollectGarbage()
		s := []metrics.Sample{{Name: "/gc/scan/heap:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	const n = 16 << 20
	before := scanned()
	var a bump.Arena
	for range n / unsafe.Sizeof(bead{}) {
		b := bump.New[bead](&a)
		b.next = b
	}
	if after := scanned(); after > before+n/100 {
		t.Errorf("a collection scans %d bytes more for an arena of %d", after-before, n)
	}
	runtime.KeepAlive(&a)
	heap := make([]*bead, n/unsafe.Sizeof(uintptr(0)))
	if after := scanned(); after < before+n/2 {
		t.Errorf("a collection scans %d bytes more for %d bytes of pointers: not what was to be measured", after-before, n)
	}
	runtime.KeepAlive(heap)
}
