package bump_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// checkSum checks the equation of Stats and what holds besides.
func checkSum(t *testing.T, what string, s bump.Stats) {
	t.Helper()
	if s.Reserved != s.InUse+s.Idle+s.Gaps+s.Overhead {
		t.Fatalf("%s: does not add up: %v", what, s)
	}
	if s.Idle < 0 || s.Gaps < 0 || s.InUse < 0 || s.HighWater < s.InUse || bump.Zone == 0 && s.Overhead != s.Chunks*bump.Overhead {
		t.Fatalf("%s: impossible: %v", what, s)
	}
}

func TestStatsAfterEveryStep(t *testing.T) {
	testkit.NeedsPacking(t)
	rng := rand.New(rand.NewPCG(5, 6))
	var a bump.Arena
	var last unsafe.Pointer
	var lastSize uintptr
	high := 0
	checkSum(t, "zero", a.Stats())
	for step := range 20_000 {
		before := a.Stats()
		size := uintptr(rng.IntN(300))
		op := rng.IntN(100)
		switch {
		case op < 50:
			bump.New[[5]int32](&a)
			if got := a.Stats().InUse - before.InUse; got != 24 {
				t.Fatalf("New of 20 bytes took %d", got)
			}
		case op < 70:
			align := uintptr(1) << rng.IntN(5)
			last, lastSize = a.Alloc(size, align), size
			if got := a.Stats().InUse - before.InUse; got < int(size) || got >= int(size+align) {
				t.Fatalf("Alloc(%d, %d) took %d bytes", size, align, got)
			}
		case op < 80 && last != nil:
			last = a.Realloc(last, lastSize, lastSize+size, 1)
			lastSize += size
		case op < 90:
			bump.MakeSlice[int64](&a, int(size/8), int(size/8))
		case op < 97:
			bump.String(&a, make([]byte, size))
		case rng.IntN(5) == 0:
			a.Reset()
			last = nil
			if s := a.Stats(); s.InUse != 0 || s.Gaps != 0 || s.Chunks > 1 || s.Resets != before.Resets+1 {
				t.Fatalf("Reset of %v gives %v", before, s)
			}
		}
		s := a.Stats()
		checkSum(t, fmt.Sprint("step ", step), s)
		if high = max(high, s.InUse); s.HighWater != high {
			t.Fatalf("step %d: want a peak of %d: %v", step, high, s)
		}
		if len(bump.Extents(&a)) != s.Chunks {
			t.Fatalf("step %d: %v, but %d chunks", step, s, len(bump.Extents(&a)))
		}
	}
}

func TestStatsOfKnownProgram(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	bump.New[byte](&a)  // 8
	a.Alloc(3, 1)       // 3
	a.Alloc(2, 2)       // 1 of padding, 2
	a.Alloc(40_000, 16) // another chunk
	s := a.Stats()
	first := bump.Extents(&a)[0].Size
	if s.Chunks != 2 || s.Gaps != int(first)-14-3*2*bump.Zone || s.InUse < 40_014 || s.InUse > 40_014+15 {
		t.Errorf("%v, first chunk %d", s, first)
	}
	checkSum(t, "four allocations", s)
}

func TestStatsString(t *testing.T) {
	s := bump.Stats{InUse: 1, Reserved: 2, Idle: 3, Gaps: 4, Overhead: 5, HighWater: 6, Chunks: 7, Resets: 8}
	want := "1 byte in use, 2 reserved, 3 idle, 4 in gaps, 5 overhead, high water 6, 7 chunks, 8 resets"
	if s.String() != want {
		t.Errorf("got %q", s)
	}
	var a bump.Arena
	bump.New[int64](&a)
	if got := a.String(); got != "bump arena: "+a.Stats().String() {
		t.Errorf("got %q", got)
	}
}
