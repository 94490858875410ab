package bump_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestResetClears(t *testing.T) {
	var a bump.Arena
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		for range rng.IntN(200) {
			n := uintptr(rng.IntN(100))
			var b []byte
			if rng.IntN(2) == 0 {
				o := bump.New[[40]byte](&a)
				b = o[:]
			} else {
				b = bytesAt(a.Alloc(n, 1<<rng.IntN(6)), n)
				if rng.IntN(4) == 0 {
					b = bytesAt(a.Realloc(data(b), n, 2*n, 1), 2*n)
					n *= 2
				}
			}
			if !isZero(b) {
				t.Fatalf("round %d: %d bytes are not zero", round, len(b))
			}
			fill(b, 0xff)
		}
		a.Reset()
		if s := a.Stats(); s.InUse != 0 || s.Resets != uint64(round+1) {
			t.Fatalf("after Reset %d: %v", round, s)
		}
	}
}

// TestResetOfFullChunk fills chunks to the last byte from both ends.
func TestResetOfFullChunk(t *testing.T) {
	testkit.NeedsPacking(t)
	for objects := range 60 {
		var a bump.Arena
		for round := range 3 {
			for range objects {
				*bump.New[uint64](&a) = ^uint64(0)
			}
			a.Alloc(1, 1)
			n := uintptr(a.Stats().Idle)
			b := bytesAt(a.Alloc(n, 1), n)
			if s := a.Stats(); !isZero(b) || s.Idle != 0 || s.Chunks != 1 {
				t.Fatalf("round %d, %d objects: the rest of the chunk is not zero, or not the rest: %v", round, objects, s)
			}
			fill(b, 0xff)
			a.Reset()
		}
	}
}

// TestResetMerges is about a steady program: after two rounds it has one chunk
// that is large enough, and takes no other.
func TestResetMerges(t *testing.T) {
	testkit.NeedsReuse(t)
	programs := map[string]func(*bump.Arena){}
	for name, n := range map[string]int{"100 objects": 100, "5000 objects": 5000, "200000 objects": 200_000} {
		programs[name] = func(a *bump.Arena) {
			for range n {
				bump.New[int64](a)
			}
		}
	}
	// Sums that are just a size of the chunk table, where what the chunk takes
	// for itself must not be forgotten.
	for name, n := range map[string]uintptr{"1 KiB": 1 << 10, "64 KiB": 64 << 10, "80 KiB": 80 << 10, "1 MiB": 1 << 20, "5 MiB": 5 << 20} {
		programs[name+" of bytes"] = func(a *bump.Arena) {
			for range n / 256 {
				a.Alloc(256, 1)
			}
		}
		programs[name+" of objects"] = func(a *bump.Arena) {
			for range n / 256 {
				bump.New[[256]byte](a)
			}
		}
	}
	programs["objects up to the last byte"] = func(a *bump.Arena) {
		for range (64<<10 - bump.Overhead) / 8 {
			bump.New[int64](a)
		}
	}
	programs["a mix"] = func(a *bump.Arena) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 3000 {
			bump.New[[3]int64](a)
			a.Alloc(uintptr(rng.IntN(50)), 8)
			bump.String(a, "abcdefghijklm"[:rng.IntN(13)])
		}
	}
	for name, run := range programs {
		t.Run(name, func(t *testing.T) {
			var a bump.Arena
			var steady unsafe.Pointer
			for round := range 40 {
				run(&a)
				s, e := a.Stats(), bump.Extents(&a)
				if round >= 4 {
					if s.Chunks != 1 || steady != nil && e[0].Data != steady {
						t.Fatalf("round %d took a new chunk: %v", round, s)
					}
					steady = e[0].Data
				}
				a.Reset()
				if round >= 4 {
					// At most a quarter is there to spare, or half below 32 KiB,
					// where Go's size classes are powers of two.
					if s := a.Stats(); s.Reserved > 2*s.HighWater+1024 || s.Reserved > 40<<10 && s.Reserved > s.HighWater*5/4+4096 {
						t.Fatalf("round %d keeps %d bytes for %d", round, s.Reserved, s.HighWater)
					}
				}
			}
		})
	}
}

// TestPeakDecays is about a single large round, whose memory must not stay.
// A peak stays for any number of Resets, until two collections have passed without its
// use.
func TestPeakIsForgotten(t *testing.T) {
	testkit.NeedsReuse(t)
	small := func(a *bump.Arena) {
		for range 10 {
			bump.New[int64](a)
		}
	}
	for _, peak := range []uintptr{10 << 10, 1 << 20, 40 << 20, 70 << 20} {
		var a bump.Arena
		small(&a)
		a.Reset()
		a.Alloc(peak, 8)
		a.Reset()
		epoch := gccycle.Epoch()
		for range 200 {
			small(&a)
			a.Reset()
		}
		// What is above the default of Retain is not kept at all.
		if r := a.Stats().Reserved; peak < 64<<20 && r < int(peak) && gccycle.Epoch() == epoch {
			t.Errorf("after %d bytes once and no collection, %d are kept", peak, r)
		}
		for range 3 {
			testkit.CountCollections(1)
			small(&a)
			a.Reset()
		}
		if r := a.Stats().Reserved; r > 1024 {
			t.Errorf("three collections after %d bytes, %d are kept", peak, r)
		}
		if s := a.Stats(); s.HighWater < int(peak) {
			t.Errorf("the high-water mark of %d bytes is forgotten: %v", peak, s)
		}
	}
}

func TestResetKeepsNothingHuge(t *testing.T) {
	var a bump.Arena
	a.Alloc(64<<20, 8)
	a.Reset()
	if s := a.Stats(); s.Reserved != 0 || s.Chunks != 0 {
		t.Errorf("after 64 MiB: %v", s)
	}
	a.Alloc(60<<20, 8)
	a.Reset()
	if s := a.Stats(); s.Reserved < 60<<20 || s.Reserved > 64<<20 {
		t.Errorf("after 60 MiB: %v", s)
	}
}

// TestKeptChunkTooSmall asks for more than the chunk kept over a Reset has. The
// old chunk is left, and goes.
func TestKeptChunkTooSmall(t *testing.T) {
	var census testkit.Census
	var a bump.Arena
	a.Alloc(100, 1)
	a.Reset()
	old := bump.Extents(&a)[0]
	testkit.Enroll(&census, bump.RootOf(&a))
	p := a.Alloc(100_000, 8)
	if s := a.Stats(); s.Chunks != 1 || a.Owns(old.Data) || !a.Owns(p) {
		t.Errorf("the kept chunk was not replaced: %v", s)
	}
	testkit.CollectGarbage()
	if census.Alive() != 0 {
		t.Error("the old chunk lives")
	}
	a.Alloc(100, 1)
	if !isZero(bytesAt(p, 100_000)) {
		t.Error("not zero")
	}
	a.Reset()
	if s := a.Stats(); s.Chunks != 1 || s.Reserved < 100_000 {
		t.Errorf("after Reset: %v", s)
	}
}

func TestResetOfUnused(t *testing.T) {
	var a bump.Arena
	for i := range uint64(3) {
		a.Reset()
		if s := a.Stats(); s != (bump.Stats{Resets: i + 1}) {
			t.Errorf("Reset of an unused arena: %v", s)
		}
	}
	bump.New[int](&a)
	a.Reset()
	e := bump.Extents(&a)
	a.Reset()
	bump.New[int](&a)
	if f := bump.Extents(&a); len(e) != 1 || len(f) != 1 || e[0] != f[0] {
		t.Error("a second Reset gave up the chunk")
	}
}

// The padding of a large alignment must not make a kept chunk look too large.
func TestResetKeepsAlignedChunk(t *testing.T) {
	var a bump.Arena
	round := func() {
		a.Alloc(8, bump.MaxAlign)
		a.Reset()
	}
	for range 64 {
		round()
	}
	testkit.NeedsExactAllocs(t)
	testkit.NeedsReuse(t)
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("a round of one aligned allocation takes %v allocations", n)
	}
}
