package pool_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// watch calls look again and again, beside f, until f returns.
func watch(look, f func()) {
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !end.Load() {
			look()
			runtime.Gosched()
		}
	}()
	f()
	end.Store(true)
	<-done
}

// traffic has four goroutines put more than they get, and get more than they put.
func traffic(p *pool.Pool[object]) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var out []*object
			for i := range 4000 {
				if (i/700+g)%2 == 0 || len(out) == 0 {
					out = append(out, p.Get())
				} else {
					p.Put(out[len(out)-1])
					out = out[:len(out)-1]
				}
			}
			for _, x := range out {
				p.Put(x)
			}
		}()
	}
	wg.Wait()
}

// No more than Max objects are idle, at any time.
func TestMaxIsStrict(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, bound := range []int{1, 2, 7, 8, 9, 30, 100, 456, 1000} {
		t.Run(fmt.Sprint(bound), func(t *testing.T) {
			p := pool.New(nil, pool.Config[object]{Max: bound})
			watch(func() {
				if s := p.Stats(); s.Idle > bound {
					t.Errorf("%d idle, at most %d allowed", s.Idle, bound)
				}
				if n, _ := p.Budget().Charged(); n > bound {
					t.Errorf("%d objects charged, at most %d allowed", n, bound)
				}
			}, func() { traffic(p) })
			var c testkit.Census
			for range 2 * bound {
				p.Put(testkit.Enroll(&c, new(object)))
			}
			s := checkStats(t, p.Stats())
			if s.DroppedFull == 0 || s.DroppedBytes != 0 {
				t.Errorf("dropped for want of room: %+v", s)
			}
			testkit.CollectGarbage()
			if n := c.Alive(); n > bound {
				t.Errorf("%d objects are alive, at most %d allowed", n, bound)
			}
			runtime.KeepAlive(p)
		})
	}
}

// All of Max is used: where there is no room for another magazine, objects go to
// the depot one by one.
func TestMaxIsUsed(t *testing.T) {
	noGC(t)
	defer pool.OneP()()
	for _, bound := range []int{1, 3, 4, 5, 100, 1000} {
		p, q := pool.New(nil, pool.Config[object]{Max: bound}), pool.New(nil, pool.Config[object]{Max: bound})
		for range bound {
			p.Put(new(object))
			p.Budget().Settle()
			q.Put(new(object))
		}
		if s := checkStats(t, p.Stats()); s.Idle != bound {
			t.Errorf("Max(%d): %d idle, the magazines in the depot", bound, s.Idle)
		}
		// Where goroutines choose among several pairs of magazines, those that
		// were not chosen are charged for nothing.
		if s := checkStats(t, q.Stats()); pool.Pinned && s.Idle != bound {
			t.Errorf("Max(%d): %d idle, the P's magazines full", bound, s.Idle)
		}
	}
}

// Magazines of retired cells count until they have come in, so there may be no
// room for others, in a Get as in a Put.
func TestMaxIsStrictWhileCellsRetire(t *testing.T) {
	noGC(t)
	defer pool.OneP()()
	for bound := range 60 {
		p := pool.New(nil, pool.Config[object]{Max: bound})
		for range 5 {
			for range 2 * bound {
				p.Put(new(object))
			}
			p.Budget().Retire()
		}
		for range bound {
			p.Get()
			s := checkStats(t, p.Stats())
			checkCharged(t, p.Budget(), s)
			if s.Idle%7 == 0 {
				p.Budget().Retire()
			}
		}
		if s := checkStats(t, p.Stats()); s.Max > 0 && s.Hits == 0 {
			t.Errorf("Max(%d): %+v", bound, s)
		}
	}
}

// Without Cost an object counts as the size of its type.
func TestMaxBytesWithoutCost(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	size := int(unsafe.Sizeof(object{}))
	for _, bound := range []int{size - 1, size, 10*size + 1, 1000 * size} {
		p := pool.New(nil, pool.Config[object]{MaxBytes: bound})
		watch(func() {
			if s := p.Stats(); s.Bytes > bound || s.Bytes != s.Idle*size {
				t.Errorf("%d idle objects of %d bytes: %d bytes, at most %d allowed", s.Idle, size, s.Bytes, bound)
			}
			if _, n := p.Budget().Charged(); n > bound {
				t.Errorf("%d bytes charged, at most %d allowed", n, bound)
			}
		}, func() { traffic(p) })
		for range 2 * bound / size {
			p.Put(new(object))
		}
		s := checkStats(t, p.Stats())
		if s.DroppedBytes == 0 || s.DroppedFull != 0 {
			t.Errorf("dropped for want of room: %+v", s)
		}
	}
}

// With Cost, no more than MaxBytes are idle, at any time, whatever becomes of the
// objects between Cost and now.
func TestMaxBytesIsStrict(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, bound := range []int{50, 1000, 100_000} {
		t.Run(fmt.Sprint(bound), func(t *testing.T) {
			var calls atomic.Int64
			cost := func(x *object) int { calls.Add(1); return len(x.data) }
			p := pool.New(func() *object { return new(object) }, pool.Config[object]{Cost: cost, MaxBytes: bound})
			var puts atomic.Int64
			watch(func() {
				if s := p.Stats(); s.Bytes > bound {
					t.Errorf("%d bytes idle, at most %d allowed", s.Bytes, bound)
				}
				if _, n := p.Budget().Charged(); n > bound {
					t.Errorf("%d bytes charged, at most %d allowed", n, bound)
				}
			}, func() {
				var wg sync.WaitGroup
				for g := range 4 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						var out []*object
						for i := range 3000 {
							if (i/300+g)%2 == 0 || len(out) == 0 {
								x := p.Get()
								x.data = make([]byte, i*7%200)
								out = append(out, x)
							} else {
								puts.Add(1)
								p.Put(out[len(out)-1])
								out = out[:len(out)-1]
							}
						}
					}()
				}
				wg.Wait()
			})
			if s := checkStats(t, p.Stats()); s.Puts != uint64(puts.Load()) || calls.Load() != puts.Load() {
				t.Errorf("%d puts, %d in Stats, %d calls of Cost", puts.Load(), s.Puts, calls.Load())
			}
			// All of it is subtracted again.
			p.Trim()
			if n, bytes := p.Budget().Charged(); n != 0 || bytes != 0 || p.Stats().Bytes != 0 {
				t.Errorf("an empty pool is charged %d objects, %d bytes: %+v", n, bytes, p.Stats())
			}
		})
	}
}

// The bytes that a Get subtracts are those that the Put added.
func TestCostIsRemembered(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	p := pool.New(nil, pool.Config[object]{Cost: func(x *object) int { return len(x.data) }, MaxBytes: 100_000})
	sum := 0
	for i := range 300 {
		x := &object{data: make([]byte, i)}
		p.Put(x)
		x.data = nil // a misuse, but a likely one
		sum += i
		if s := checkStats(t, p.Stats()); s.Bytes != sum || s.Idle != i+1 {
			t.Fatalf("after %d puts: %+v, want %d bytes", i+1, s, sum)
		}
	}
	left := sum
	for range 300 {
		before := p.Stats().Bytes
		p.Get()
		after := checkStats(t, p.Stats()).Bytes
		if after > before {
			t.Fatalf("a Get took %d bytes to %d", before, after)
		}
		left -= before - after
	}
	drain(t, p)
	if s := checkStats(t, p.Stats()); s.Bytes != 0 {
		t.Errorf("%d bytes in an empty pool", s.Bytes)
	}
}

// One large object does not stay, and takes no small ones' place.
func TestMaxBytesDropsTheLarge(t *testing.T) {
	noGC(t)
	p := pool.New(nil, pool.Config[object]{Cost: func(x *object) int { return cap(x.data) }, MaxBytes: 1 << 20})
	small := &object{data: make([]byte, 100)}
	p.Put(small)
	var c testkit.Census
	p.Put(testkit.Enroll(&c, &object{data: make([]byte, 1<<20+1)}))
	if s := checkStats(t, p.Stats()); s.Idle != 1 || s.DroppedBytes != 1 || s.DroppedFull != 0 || s.Bytes != 100 {
		t.Errorf("%+v", s)
	}
	testkit.CollectGarbage()
	if c.Alive() != 0 {
		t.Error("the large object is alive")
	}
	// One that is too large for a magazine, but not for the depot.
	large := &object{data: make([]byte, 1<<19)}
	p.Put(large)
	if s := checkStats(t, p.Stats()); s.Depot != 1 || s.Idle != 2 || s.Bytes != 100+1<<19 {
		t.Errorf("%+v", s)
	}
	if got := drain(t, p); got[small] != 1 || got[large] != 1 || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// Costs may be as large as numbers go.
func TestCostOverflow(t *testing.T) {
	noGC(t)
	for _, conf := range []pool.Config[object]{{}, {MaxBytes: math.MaxInt}, {MaxBytes: 1000}, {Max: 100}} {
		cost := math.MaxInt
		conf.Cost = func(*object) int { return cost }
		p := pool.New[object](nil, conf)
		for range 5 {
			p.Put(new(object))
			checkStats(t, p.Stats())
		}
		cost = 0
		for range 200 {
			p.Put(new(object))
		}
		cost = math.MaxInt/2 + 1
		for range 5 {
			p.Put(new(object))
		}
		if s := checkStats(t, p.Stats()); s.Dropped() < 8 || s.DroppedBytes == 0 {
			t.Errorf("%+v", s)
		}
		drain(t, p)
		if n, bytes := p.Budget().Charged(); bytes < 0 || n < 0 {
			t.Errorf("charged %d objects, %d bytes", n, bytes)
		}
	}
}

// GOMAXPROCS may change at any time: no bound is exceeded, nothing is lost.
func TestGOMAXPROCSChanges(t *testing.T) {
	noGC(t)
	varyProcs(t)
	for _, conf := range []pool.Config[object]{{}, {Max: 100}, {Max: 100, MaxBytes: 3000, Cost: func(x *object) int { return x.id % 50 }}} {
		p := pool.New(nil, conf)
		all := map[*object]bool{}
		for round, procs := range []int{1, 2, 8, 3, 16, 1, 4} {
			runtime.GOMAXPROCS(procs)
			var wg sync.WaitGroup
			var mu sync.Mutex
			for range procs {
				wg.Add(1)
				go func() {
					defer wg.Done()
					var out []*object
					for i := range 300 {
						x := p.Get()
						x.id = i
						out = append(out, x)
					}
					for _, x := range out {
						p.Put(x)
					}
					mu.Lock()
					defer mu.Unlock()
					for _, x := range out {
						all[x] = true
					}
				}()
			}
			wg.Wait()
			checkStats(t, p.Stats())
			p.Budget().AfterGC(false)
			if s := checkStats(t, p.Stats()); round == 3 && s.Idle == 0 {
				t.Errorf("nothing idle: %+v", s)
			}
		}
		s := checkStats(t, p.Stats())
		if n := len(drain(t, p)); n != s.Idle {
			t.Errorf("%d objects come back, want %d", n, s.Idle)
		}
		if conf.Max == 0 && s.Idle+int(s.Trimmed) != len(all) {
			t.Errorf("%d objects idle and %d trimmed, of %d", s.Idle, s.Trimmed, len(all))
		}
	}
}

// The cells of Ps that are gone are given up after a while, also where there is
// no end of traffic.
func TestCellsFollowGOMAXPROCS(t *testing.T) {
	noGC(t)
	varyProcs(t)
	for name, step := range map[string]func(*pool.Budget, *clock){
		"collections": func(b *pool.Budget, _ *clock) { b.AfterGC(false) },
		"timer":       func(_ *pool.Budget, c *clock) { c.tick(t) },
	} {
		var clock clock
		p := pool.New(nil, pool.Config[object]{Idle: map[string]time.Duration{"timer": time.Second}[name]})
		p.Budget().SetClock(clock.after)
		for _, procs := range []int{4, 2, 3} {
			runtime.GOMAXPROCS(procs)
			for range 3 {
				p.Put(p.Get())
				step(p.Budget(), &clock)
				p.Put(p.Get())
			}
			if !p.Budget().Fits() {
				t.Errorf("%s: after GOMAXPROCS(%d) there are other cells than for so many Ps", name, procs)
			}
		}
		if s := checkStats(t, p.Stats()); s.InUse != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
