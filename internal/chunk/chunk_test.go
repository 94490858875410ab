package chunk_test

import (
	"math"
	"math/bits"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/testkit"
)

const word = unsafe.Sizeof(uintptr(0))

// sink makes what is stored in it escape to the heap.
var sink any

// wants are sizes on and beside every step that matters.
func wants() []uintptr {
	var all []uintptr
	for n := uintptr(1); n <= 4<<20; n *= 2 {
		for _, d := range []uintptr{n / 2, n/2 + n/4} {
			all = append(all, n-1, n, n+1, n+d, n-min(n, 8), n+7, n+9)
		}
	}
	return all
}

// TestUsable compares what Usable promises with what the heap takes.
func TestUsable(t *testing.T) {
	testkit.NeedsPacking(t)
	seen := map[uintptr]bool{}
	for _, want := range wants() {
		u := chunk.Usable(want)
		if u%8 != 0 || u < want && want > 512 || want <= chunk.First && u != chunk.First || u > max(2*want+8, chunk.First, want+8<<10) {
			t.Errorf("Usable(%d) = %d", want, u)
		}
		if seen[u] {
			continue
		}
		seen[u] = true
		got := testkit.Taken(func() {
			for range 8 {
				sink = &make([]*byte, u/word)[0]
			}
		}) / 8
		header := uintptr(0)
		if u > word*word*8 && u < 32<<10 {
			header = 8
		}
		// What other goroutines allocate may be in it, which is less than a miss.
		if got < u+header || got > u+header+u/100 {
			t.Errorf("%d usable bytes take %d of the heap, want %d", u, got, u+header)
		}
	}
	sink = nil
}

// TestUsableSteps has the sizes at which the header begins and ends, where one
// byte decides.
func TestUsableSteps(t *testing.T) {
	for _, c := range [][2]uintptr{
		{chunk.First, chunk.First}, {chunk.First + 1, 1016}, {1016, 1016}, {1017, 2040},
		{32760, 32760}, {32761, 32768}, {32768, 32768}, {32769, 40960},
	} {
		if got := chunk.Usable(c[0]); got != c[1] {
			t.Errorf("Usable(%d) = %d, want %d", c[0], got, c[1])
		}
	}
}

// TestNoPagesForNothing is about large chunks without pointers.
func TestNoPagesForNothing(t *testing.T) {
	testkit.NeedsPacking(t)
	for want := uintptr(32 << 10); want < 1<<20; want += 12345 {
		u := chunk.Usable(want)
		if got := testkit.Taken(func() { sink = &make([]byte, u)[0] }); got < u || got > u+u/100 {
			t.Errorf("%d usable bytes without pointers take %d of the heap", u, got)
		}
	}
	sink = nil
}

func TestElems(t *testing.T) {
	for _, want := range wants() {
		for _, size := range []uintptr{1, 2, 3, 8, 24, 100, 512, 4096, 100_000} {
			n := uintptr(chunk.Elems(want, size))
			if n < 1 || n > 1 && n*size > chunk.Usable(want) || (n+1)*size <= chunk.Usable(want) {
				t.Errorf("Elems(%d, %d) = %d, in %d usable bytes", want, size, n, chunk.Usable(want))
			}
		}
		if n := chunk.Elems(want, 0); n < 1<<20 {
			t.Errorf("Elems(%d, 0) = %d", want, n)
		}
	}
}

// TestNextElems checks that growth goes on where the next size class has no room
// for another large element, and ends at the limit.
func TestNextElems(t *testing.T) {
	const limit = 1 << 20
	for _, size := range []uintptr{1, 8, 24, 100, 300, 510, 520, 4000, 5000, 40_000, limit / 2} {
		for n := 1; uintptr(2*n)*size <= limit; {
			next := chunk.NextElems(n, size, limit)
			if next <= n || uintptr(next)*size > chunk.Usable(2*uintptr(n)*size) {
				t.Fatalf("after a chunk of %d elements of %d bytes comes one of %d", n, size, next)
			}
			n = next
		}
		if n := int(limit / size); chunk.NextElems(n, size, limit) != max(1, chunk.Elems(limit, size)) {
			t.Errorf("after the largest chunk of %d elements of %d bytes comes one of %d", n, size, chunk.NextElems(n, size, limit))
		}
	}
}

func TestFill(t *testing.T) {
	for _, size := range []uintptr{1, 8, 24, 100, 4096, 40_000} {
		for n := 1; uintptr(n)*size < 2<<20; n += 1 + n/3 {
			got := chunk.Fill(n, size)
			bytes := uintptr(got) * size
			if got < n || bytes >= uintptr(n)*size+8<<10 {
				t.Errorf("Fill(%d, %d) = %d", n, size, got)
			}
			// No more would fit the pages.
			if pages := (bytes + 8191) &^ 8191; bytes >= 32<<10 && bytes+size <= pages {
				t.Errorf("Fill(%d, %d) = %d leaves %d bytes of the last page", n, size, got, pages-bytes)
			}
		}
	}
	if n := chunk.Fill(7, 0); n != 7 {
		t.Errorf("Fill(7, 0) = %d", n)
	}
}

func TestNext(t *testing.T) {
	for _, c := range [][3]uintptr{
		{0, 1 << 20, chunk.First},
		{100, 1 << 20, chunk.First},
		{chunk.First, 1 << 20, 2*chunk.First - 8},
		{4088, 1 << 20, 8168},
		{1 << 19, 1 << 20, 1<<20 - 8},
		{1 << 20, 1 << 20, 1 << 20},
		{64 << 20, 1 << 20, 1 << 20},
		{5000, 3000, 3000},
	} {
		if got := chunk.Next(c[0], c[1]); got != c[2] {
			t.Errorf("Next(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
	// No size class is skipped on the way up.
	for _, c := range [][2]uintptr{{chunk.First, 1016}, {1016, 2040}, {4088, 8184}, {32760, 65536}, {1 << 19, 1 << 20}} {
		if got := chunk.Usable(chunk.Next(c[0], 1<<20)); got != c[1] {
			t.Errorf("after a chunk of %d bytes comes one of %d, want %d", c[0], got, c[1])
		}
	}
	// Growth from nothing to the largest takes few steps.
	steps := 0
	for n := uintptr(0); n < chunk.MaxGrowth; n = chunk.Usable(chunk.Next(n, chunk.MaxGrowth)) {
		steps++
	}
	if steps > 12 {
		t.Errorf("growth to %d bytes takes %d chunks", chunk.MaxGrowth, steps)
	}
}

func TestRound(t *testing.T) {
	steps := map[int]bool{}
	for n := range 1 << 16 {
		r := chunk.Round(n)
		if r < n || r > n+n/4 || chunk.Round(r) != r {
			t.Fatalf("Round(%d) = %d", n, r)
		}
		steps[r] = true
	}
	if most := 4*16 + 5; len(steps) > most {
		t.Errorf("%d different results up to 65536, want at most %d", len(steps), most)
	}
	for _, n := range []int{math.MaxInt / 2, math.MaxInt32 / 2} {
		if r := chunk.Round(n); r < n || r-n > n/4 || bits.OnesCount(uint(r)) > 3 {
			t.Errorf("Round(%d) = %d", n, r)
		}
	}
	for _, n := range []int{0, -1, math.MinInt} {
		if r := chunk.Round(n); r != n {
			t.Errorf("Round(%d) = %d", n, r)
		}
	}
}

// A Peak knows what was in use since the last collection but one.
func TestPeak(t *testing.T) {
	var p chunk.Peak
	if p.Want() != 0 || p.Outgrown(0) || !p.Outgrown(1) {
		t.Error("the zero Peak wants something")
	}
	for _, c := range []struct {
		epoch      uint32
		used, want int
	}{
		{0, 10, 10}, {0, 1000, 1000}, {0, 1001, 1001}, {0, 80_000, 80_000}, // up at once
		{0, 0, 80_000}, {0, 5, 80_000}, // and not down before a collection
		{1, 7, 80_000}, {1, 0, 80_000}, // nor before two
		{2, 3, 7}, {2, 100, 100}, {2, 0, 100},
		{3, 1, 100}, {4, 0, 1},
		{4, 500, 500}, {6, 2, 2}, // two at a time
		{7, 90, 90}, {math.MaxUint32, 0, 0}, {math.MaxUint32, 40, 40}, {0, 3, 40}, {1, 0, 3},
	} {
		if p.Note(c.used, c.epoch); p.Want() != chunk.Round(c.want) || p.Idle(c.epoch) != 0 || p.Idle(c.epoch+2) != 2 {
			t.Errorf("after %d in epoch %d: Want %d, want %d", c.used, c.epoch, p.Want(), chunk.Round(c.want))
		}
	}
	p = chunk.Peak{}
	p.Note(100, 0)
	p.Note(90, 1)
	if p.Outgrown(200) || !p.Outgrown(2*p.Want()+1) || p.Outgrown(2*p.Want()) {
		t.Errorf("Outgrown is not what is above twice %d", p.Want())
	}
	for _, n := range []int{1000, 100, 95, 50, 0} {
		if p.Cap(n); p.Want() != chunk.Round(min(n, 100)) {
			t.Errorf("Cap(%d) leaves %d", n, p.Want())
		}
	}
	// What it cannot count is never outgrown.
	if bits.UintSize == 64 {
		for _, above := range []uint64{0, 1, math.MaxInt64 - math.MaxUint32} {
			used := int(math.MaxUint32 + above)
			p = chunk.Peak{}
			if p.Note(used, 0); uint64(p.Want()) < math.MaxUint32 || p.Outgrown(math.MaxInt) {
				t.Errorf("after %d: Want %d", used, p.Want())
			}
		}
	}
}

// TestFirstElems checks that first chunks stay within what they were asked for, header
// included, and that the small ones double.
func TestFirstElems(t *testing.T) {
	bare := uintptr(8 * bits.UintSize * bits.UintSize / 64)
	for _, want := range wants() {
		for _, size := range []uintptr{1, 8, 24, 100} {
			n := uintptr(chunk.FirstElems(want, size))
			header := uintptr(0)
			if want > bare && want < 32<<10 {
				header = 8
			}
			if n < 1 || n > 1 && n*size+header > want || (n+1)*size+header <= want {
				t.Errorf("FirstElems(%d, %d) = %d", want, size, n)
			}
			if need := chunk.WithHeader(n * size); n > 1 && want < 32<<10 && need > want {
				t.Errorf("%d elements of %d bytes need %d in a first chunk of %d", n, size, need, want)
			}
		}
	}
	for _, c := range [][3]int{{2, 8, 16}, {8, 8, 16}, {5, 24, 10}, {32, 8, 64}} {
		if got := chunk.NextElems(c[0], uintptr(c[1]), 1<<20); bits.UintSize == 64 && got != c[2] {
			t.Errorf("after a chunk of %d elements of %d bytes comes one of %d, want %d", c[0], c[1], got, c[2])
		}
	}
	var p chunk.Peak
	if p.Note(10, 3); !p.Covers(10, 3) || p.Covers(11, 3) || p.Covers(10, 4) {
		t.Error("a Peak of 10 does not cover what is up to 10 in its epoch")
	}
}
