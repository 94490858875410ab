package bump_test

import (
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// sink makes what is stored in it escape to the heap.
var sink any

// TestChunksFillSizeClasses compares each size of the chunk table with what the
// heap takes for it: a header of 8 bytes more below 32 KiB, and no more.
func TestChunksFillSizeClasses(t *testing.T) {
	testkit.NeedsPacking(t)
	last := uintptr(0)
	for _, total := range bump.ChunkSizes() {
		if total <= last {
			t.Errorf("the table has %d after %d", total, last)
		}
		last = total
		if total > 1<<20 && testing.Short() {
			continue
		}
		n := uintptr(1)
		if total < 1<<20 {
			n = 16
		}
		got := testkit.Taken(func() {
			for range n {
				p, size := bump.MakeChunk(total)
				if size != total {
					t.Fatalf("a chunk of %d bytes has %d", total, size)
				}
				sink = p
			}
		})/n - (unsafe.Sizeof([]int{})+7)&^7 // the root, a list, rounded up to a size class
		header := uintptr(0)
		if total < 32<<10 && total > unsafe.Sizeof(total)*unsafe.Sizeof(total)*8 {
			header = 8
		}
		// What other goroutines allocate may be in it, which is less than a miss.
		if got < total+header || got > total+header+total/100 {
			t.Errorf("a chunk of %d bytes takes %d of the heap", total, got)
		}
	}
	sink = nil
}

// TestOverhead measures an arena of over 1 MB: what it takes beside what was
// asked for and what is still free is at most 1 %.
func TestOverhead(t *testing.T) {
	testkit.NeedsPacking(t)
	for _, n := range []int{20_000, 100_000} {
		testkit.CollectGarbage()
		var a *bump.Arena
		got := testkit.Taken(func() {
			a = new(bump.Arena)
			for range n {
				bump.New[[8]uint64](a)
			}
		})
		s := a.Stats()
		if s.InUse != 64*n || s.Overhead+s.Gaps > s.InUse/100 {
			t.Errorf("%d objects: %v", n, s)
		}
		if extra := int(got) - s.InUse - s.Idle; extra > s.InUse/100 {
			t.Errorf("%d objects of %d bytes take %d bytes of the heap, %d idle: %d are overhead", n, s.InUse, got, s.Idle, extra)
		}
	}
}

func TestEmptyArena(t *testing.T) {
	const n = 1000
	all := make([]*bump.Arena, n)
	got := testkit.Taken(func() {
		for i := range all {
			all[i] = new(bump.Arena)
		}
	}) / n
	if got >= 600 || got < unsafe.Sizeof(*all[0]) {
		t.Errorf("an empty arena takes %d bytes, want less than 600", got)
	}
	t.Logf("an empty arena takes %d bytes", got)
}

// TestSteadyStateDoesNotAllocate is about Reset.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	var a bump.Arena
	round := func() {
		for range 1000 {
			b := bump.New[bead](&a)
			b.text = bump.String(&a, "twenty-one characters")
			b.next = b
		}
		s := bump.MakeSlice[int](&a, 0, 1)
		for i := range 100 {
			s = bump.Append(&a, s, i)
		}
		a.Reset()
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
