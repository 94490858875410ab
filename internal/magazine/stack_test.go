package magazine_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// A thing is what the Stacks of tests hold.
type thing struct {
	n     int
	taken atomic.Bool
}

// checkStack fails the test if the numbers do not add up, or are not what was done.
func checkStack(t testing.TB, s *magazine.Stack[thing], gets, puts uint64) magazine.StackStats {
	t.Helper()
	st := s.Stats()
	if st.Gets != st.Hits+st.Misses || st.Puts != st.Dropped+st.Trimmed+st.Idle+st.Hits || st.Idle > magazine.MaxIdle {
		t.Fatalf("numbers do not add up: %+v", st)
	}
	if st.Gets != gets || st.Puts != puts {
		t.Fatalf("%+v, want %d gets and %d puts", st, gets, puts)
	}
	return st
}

// What was put comes back, each thing once, with its bytes taken off again.
func TestStack(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	for _, n := range []int{1, 2, 3, 2 * magazine.StackRounds, 2*magazine.StackRounds + 1, 100} {
		var s magazine.Stack[thing]
		if s.Get() != nil {
			t.Fatal("a zero Stack has something")
		}
		for round := range 3 {
			bytes := 0
			for i := range n {
				s.Put(&thing{n: i}, i)
				bytes += i
			}
			gets, puts := uint64(1+round*(n+1)), uint64(round*n+n)
			if st := checkStack(t, &s, gets, puts); int(st.Idle) != n || int(st.Bytes) != bytes {
				t.Fatalf("%+v, want %d things of %d bytes", st, n, bytes)
			}
			seen := make(map[int]bool)
			for range n {
				p := s.Get()
				if p == nil || seen[p.n] {
					t.Fatalf("got %+v after %v", p, seen)
				}
				seen[p.n] = true
			}
			if s.Get() != nil {
				t.Fatal("more came out than was put")
			}
			if st := checkStack(t, &s, gets+uint64(n)+1, puts); st.Idle != 0 || st.Bytes != 0 {
				t.Fatalf("%+v, want nothing idle", st)
			}
		}
	}
}

// No more than MaxIdle stay, however many Ps there are.
func TestStackBound(t *testing.T) {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	for _, procs := range []int{1, 3, 64, 200} {
		runtime.GOMAXPROCS(procs)
		var s magazine.Stack[thing]
		var wg sync.WaitGroup
		for range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range magazine.MaxIdle / 8 {
					s.Put(new(thing), 1)
				}
			}()
		}
		wg.Wait()
		st := checkStack(t, &s, 0, 2*magazine.MaxIdle)
		if st.Idle < magazine.MaxIdle/4 && st.Trimmed == 0 || st.Idle != st.Bytes {
			t.Errorf("%d Ps: %+v", procs, st)
		}
	}
}

// One thing has one owner at a time, while tables are retired and GOMAXPROCS changes, and
// nothing is lost.
func TestStackConcurrent(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := 20000
	if testing.Short() {
		n = 2000
	}
	var s magazine.Stack[thing]
	var wg sync.WaitGroup
	var gets, puts, made atomic.Uint64
	for g := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var held []*thing
			for i := range n {
				if i%7 < 4 || len(held) == 0 {
					p := s.Get()
					gets.Add(1)
					if p == nil {
						p = new(thing)
						made.Add(1)
					}
					if p.taken.Swap(true) {
						t.Error("a thing has two owners")
					}
					p.n++
					held = append(held, p)
				}
				if i%7 >= 3 || len(held) > 20 {
					p := held[0]
					held = held[1:]
					p.taken.Store(false)
					s.Put(p, 8)
					puts.Add(1)
				}
				switch {
				case g == 0 && i%500 == 0:
					runtime.GOMAXPROCS(1 + i/500%4)
				case i%1000 == 1:
					runtime.GC()
				case i%300 == 2:
					s.Stats()
				}
			}
			for _, p := range held {
				p.taken.Store(false)
				s.Put(p, 8)
				puts.Add(1)
			}
		}()
	}
	wg.Wait()
	st := checkStack(t, &s, gets.Load(), puts.Load())
	if st.Idle+st.Trimmed+st.Dropped != made.Load() || st.Bytes != 8*st.Idle {
		t.Errorf("%+v, want %d things", st, made.Load())
	}
}

// A Stack that nobody uses shrinks to one thing for each P, what Ps had included, and its
// memory goes.
func TestStackTrims(t *testing.T) {
	if !testkit.InChild(t) { // where GOMAXPROCS was never larger: see GC.md fact 15
		testkit.MustChild(t)
		return
	}
	s := new(magazine.Stack[thing])
	var census testkit.Census
	for range 200 {
		s.Put(testkit.Enroll(&census, new(thing)), 1)
	}
	floor := runtime.GOMAXPROCS(0)
	testkit.Eventually(t, "the floor", func() bool {
		st := checkStack(t, s, 0, 200)
		if int(st.Idle) < floor {
			t.Fatalf("%+v, fewer than the floor of %d", st, floor)
		}
		return int(st.Idle) == floor && census.Alive() == floor
	})
	for range 5 {
		testkit.CollectGarbage()
	}
	if st := checkStack(t, s, 0, 200); int(st.Idle) != floor {
		t.Errorf("%+v, want %d idle", st, floor)
	}
	var dropped testkit.Census
	testkit.Enroll(&dropped, s)
	s = nil
	testkit.CollectGarbage()
	testkit.CollectGarbage()
	if dropped.Alive() != 0 {
		t.Error("a Stack that was dropped is kept")
	}
}
