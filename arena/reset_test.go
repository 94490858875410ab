package arena_test

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// rounds runs f and Reset n times.
func rounds(t *testing.T, a *arena.Arena, n int, f func()) {
	t.Helper()
	for range n {
		f()
		checkStats(t, a)
		a.Reset()
		if s := checkStats(t, a); s.InUse != 0 || s.Gaps != 0 {
			t.Fatalf("after Reset: %+v", s)
		}
	}
}

// Reset of an arena without memory, used or not, does nothing.
func TestResetUnused(t *testing.T) {
	(*arena.Arena)(nil).Reset()
	var a arena.Arena
	a.Reset()
	a.Reset()
	arena.LaneOf[int](&a)
	a.Reset()
	if s := checkStats(t, &a); s.Reserved != 0 || s.Resets != 3 {
		t.Errorf("%+v", s)
	}
}

// Memory is handed out again after Reset, and only then.
func TestResetReuses(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	a := arena.NewArena()
	p := arena.New[int](a)
	if q := arena.New[int](a); p == q {
		t.Fatal("one address twice")
	}
	a.Reset()
	if q := arena.New[int](a); p != q {
		t.Error("memory was not reused")
	}
	if testing.AllocsPerRun(100, func() {
		for range 50 {
			arena.New[node](a)
			arena.MakeSlice[int](a, 5, 9)
			arena.String(a, "text")
		}
		a.Reset()
	}) != 0 {
		t.Error("a steady program allocates")
	}
}

// A lane that took several chunks goes on with one that is large enough.
func TestResetMerges(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	for name, round := range map[string]func(a *arena.Arena){
		"objects": func(a *arena.Arena) {
			for range 10000 {
				arena.New[node](a)
			}
		},
		"slices": func(a *arena.Arena) {
			for range 100 {
				arena.MakeSlice[node](a, 30, 70)
			}
		},
		"a large slice": func(a *arena.Arena) { arena.MakeSlice[node](a, 1, 50000) },
		"appends": func(a *arena.Arena) {
			var s []node
			for range 5000 {
				s = arena.Append(a, s, node{})
			}
		},
		"a scope": func(a *arena.Arena) {
			m := a.Mark()
			for range 10000 {
				arena.New[node](a)
			}
			a.Release(m)
		},
		"a scope inside": func(a *arena.Arena) {
			arena.New[node](a)
			m := a.Mark()
			arena.MakeSlice[node](a, 10, 5000)
			for range 10000 {
				arena.New[node](a)
			}
			a.Release(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := arena.NewArena()
			rounds(t, a, 2, func() { round(a) })
			if l := laneStats[node](t, a); l.Chunks != 1 {
				t.Errorf("%d chunks after the second Reset, want 1", l.Chunks)
			}
			if n := testing.AllocsPerRun(50, func() { round(a); a.Reset() }); n != 0 {
				t.Errorf("%v allocs/op from then on, want 0", n)
			}
		})
	}
}

// One large round does not stay for ever: the memory it needed stays for any number of
// Resets, and goes when collections have passed without its use, whether its types are
// used again or not.
func TestResetForgetsAPeak(t *testing.T) {
	testkit.NeedsReuse(t)
	for name, small := range map[string]func(a *arena.Arena){
		"lane used":          func(a *arena.Arena) { arena.New[node](a) },
		"lane idle":          func(a *arena.Arena) {},
		"lane used in scope": func(a *arena.Arena) { m := a.Mark(); arena.New[node](a); a.Release(m) },
	} {
		for _, scoped := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				a := arena.NewArena()
				rounds(t, a, 2, func() {
					m := a.Mark()
					for range 100000 {
						arena.New[node](a)
					}
					if scoped {
						a.Release(m)
					}
				})
				peak := checkStats(t, a).Reserved
				if peak < 4<<20/8*8/10 {
					t.Fatalf("only %d bytes reserved", peak)
				}
				epoch := gccycle.Epoch()
				rounds(t, a, 80, func() { small(a) })
				if r := checkStats(t, a).Reserved; r < peak && gccycle.Epoch() == epoch {
					t.Errorf("without a collection %d of %d bytes are reserved after 80 small rounds", r, peak)
				}
				for range 3 {
					testkit.CountCollections(1)
					rounds(t, a, 1, func() { small(a) })
				}
				if r := checkStats(t, a).Reserved; r > 1<<10 {
					t.Errorf("%d bytes of %d are still reserved after three collections", r, peak)
				}
			})
		}
	}
}

// A load that changes a little does not lose its memory.
func TestResetKeepsASteadyLoad(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	a := arena.NewArena()
	n := 0
	round := func() {
		n++
		for range 5000 + n%10*100 {
			arena.New[node](a)
		}
	}
	rounds(t, a, 20, round)
	if got := testing.AllocsPerRun(100, func() { round(); a.Reset() }); got != 0 {
		t.Errorf("%v allocs/op", got)
	}
}

// Collections that end while Reset runs do not make idle what was used up to it.
func TestResetWhileCollecting(t *testing.T) {
	testkit.Unguarded(t)
	gccycle.Count()
	stop := make(chan struct{})
	var collect sync.WaitGroup
	collect.Add(1)
	go func() {
		defer collect.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer collect.Wait()
	defer close(stop)
	a := arena.NewArena()
	for round := range 20 {
		arena.New[int](a)
		arena.MakeSlice[byte](a, 0, 32<<20)
		a.Reset()
		for _, l := range checkStats(t, a).Lanes {
			if round > 0 && l.Reserved == 0 {
				t.Fatalf("round %d: nothing is kept of lane %s, which was just used", round, l.Type)
			}
		}
	}
}

func TestRetain(t *testing.T) {
	for _, keep := range []int{-1, 1 << 10, 1 << 20, 3 << 20} {
		a := arena.NewArena(arena.Config{Retain: keep})
		for round := range 10 {
			for range 10000 {
				arena.New[node](a)
				arena.New[int](a)
			}
			arena.MakeSlice[string](a, 0, 100000)
			a.Reset()
			if s := checkStats(t, a); s.Reserved > max(keep, 0) {
				t.Errorf("Retain %d: %d bytes stay after round %d", keep, s.Reserved, round)
			}
		}
	}
	// Types that are within the bound each for itself, but not together.
	const keep = 10_000
	a := arena.NewArena(arena.Config{Retain: keep})
	for round := range 10 {
		for range 1000 {
			arena.New[int64](a)
			arena.New[uint64](a)
			arena.New[float64](a)
		}
		a.Reset()
		if s := checkStats(t, a); s.Reserved > keep || round > 0 && s.Reserved == 0 {
			t.Errorf("Retain %d: %d bytes of three types stay after round %d", keep, s.Reserved, round)
		}
	}
	const over = 65 << 20
	for _, c := range []struct {
		a    *arena.Arena
		want bool
	}{
		{arena.NewArena(), false},
		{arena.NewArena(arena.Config{}), false},
		{arena.NewArena(arena.Config{Retain: math.MaxInt}), true},
	} {
		for range 2 {
			arena.MakeSlice[byte](c.a, 0, over)
			c.a.Reset()
		}
		arena.MakeSlice[byte](c.a, 0, over)
		c.a.Reset()
		if got := checkStats(t, c.a).Reserved > 0; got != c.want {
			t.Errorf("65 MiB kept: %t, want %t", got, c.want)
		}
	}
}

func TestTrim(t *testing.T) {
	(*arena.Arena)(nil).Trim(0)
	a := arena.NewArena()
	a.Trim(0)
	used := func() {
		for range 20000 {
			arena.New[node](a)
			arena.New[int](a)
		}
	}
	rounds(t, a, 2, used)
	full := checkStats(t, a).Reserved
	a.Trim(full)
	if r := checkStats(t, a).Reserved; r != full {
		t.Errorf("Trim of nothing: %d of %d bytes left", r, full)
	}
	a.Trim(full / 2)
	if r := checkStats(t, a).Reserved; r > full/2 || r == 0 {
		t.Errorf("Trim(%d): %d bytes left; want the small lane's", full/2, r)
	}
	a.Trim(0)
	if r := checkStats(t, a).Reserved; r != 0 {
		t.Errorf("Trim(0): %d bytes left", r)
	}
	// What is in use stays.
	p := arena.NewFrom(a, node{key: 5})
	m := a.Mark()
	used()
	a.Release(m)
	a.Trim(0)
	s := checkStats(t, a)
	if p.key != 5 || s.Chunks != 1 || s.InUse == 0 {
		t.Errorf("Trim with a value in use: it holds %d, %+v", p.key, s)
	}
	// The next chunk is not as large as what was trimmed.
	arena.New[int](a)
	if r := laneStats[int](t, a).Reserved; r > 4<<10 {
		t.Errorf("%d bytes reserved for one value", r)
	}
}

// Reset of a lane takes back its values and no others.
func TestLaneReset(t *testing.T) {
	a := arena.NewArena()
	l := arena.LaneOf[node](a)
	other := arena.NewFrom(a, 7)
	for round := range 5 {
		for i := range 1000 {
			if p := l.New(); *p != (node{}) {
				t.Fatalf("round %d: %+v", round, *p)
			} else {
				p.key = i + 1
			}
		}
		l.Reset()
		if s := laneStats[node](t, a); s.Count != 0 {
			t.Fatalf("round %d: %+v", round, s)
		}
	}
	if *other != 7 {
		t.Error("another lane lost its value")
	}
	if s := checkStats(t, a); s.HighWater < 1000*int(unsafe.Sizeof(node{})) {
		t.Errorf("high-water mark %d after 1000 values", s.HighWater)
	}
	a.Reset()
	l.Reset()
	checkStats(t, a)
}

// A peak above Retain must not come back as one chunk for a single value.
func TestResetForgetsWhatIsAboveRetain(t *testing.T) {
	a := arena.NewArena(arena.Config{Retain: 1 << 20})
	for range 1 << 20 {
		arena.New[[2]int](a)
	}
	a.Reset()
	arena.New[[2]int](a)
	if s := a.Stats(); s.Reserved > 2<<20 {
		t.Errorf("one value after a peak above Retain reserves %d bytes", s.Reserved)
	}
}

// Trim forgets the peak of a lane that holds nothing.
func TestTrimForgetsPeaks(t *testing.T) {
	a := arena.NewArena()
	for range 1 << 20 {
		arena.New[[2]int](a)
	}
	a.Reset()
	a.Trim(0)
	arena.New[[2]int](a)
	if s := a.Stats(); s.Reserved > 4096 {
		t.Errorf("one value after Trim(0) reserves %d bytes", s.Reserved)
	}
}
