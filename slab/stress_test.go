package slab_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// An owned object knows who has it.
type owned struct {
	next  *owned // another object of the same owner
	owner atomic.Int64
	marks [4]int64
}

// take enters the owner, who must be the only one.
func (p *owned) take(t *testing.T, owner int64) {
	if !p.owner.CompareAndSwap(0, owner) {
		t.Errorf("%p was handed out to %d, and belongs to %d", p, owner, p.owner.Load())
	}
	for i := range p.marks {
		p.marks[i] = owner
	}
}

// leave is the end of take.
func (p *owned) leave(t *testing.T, owner int64) {
	for i, m := range p.marks {
		if m != owner {
			t.Errorf("%p: mark %d of owner %d is %d", p, i, owner, m)
		}
	}
	if !p.owner.CompareAndSwap(owner, 0) {
		t.Errorf("%p is freed by %d, and belongs to %d", p, owner, p.owner.Load())
	}
}

// stressTime is how long a stress test runs.
func stressTime() time.Duration {
	if testing.Short() {
		return 100 * time.Millisecond
	}
	return 400 * time.Millisecond
}

// Each object has one owner at a time, whoever frees it and whatever becomes of
// the Ps meanwhile. Nothing is lost, and a capacity is exact.
func TestOneOwner(t *testing.T) {
	const capacity = 3000
	for name, conf := range map[string]slab.Config[owned]{
		"plain":    slab.Config[owned]{},
		"capacity": {Capacity: capacity},
		"callbacks": {
			Init:  func(p *owned) { p.marks[0] = 7 },
			Reset: func(p *owned) { p.next, p.marks = nil, [4]int64{7} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := slab.NewCache[owned](conf)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			stop := testkit.Hammer()
			defer stop()
			var (
				end   atomic.Bool
				live  atomic.Int64 // at least as many as are allocated
				wg    sync.WaitGroup
				owner atomic.Int64
				trade = make(chan *owned, 500) // with the mark of whoever frees it
			)
			alloc := func() *owned {
				n := live.Add(1)
				p, err := c.TryAlloc()
				if err != nil {
					live.Add(-1)
					if !errors.Is(err, slab.ErrExhausted) || name != "capacity" {
						t.Errorf("with at most %d objects live: %v", n, err)
					}
				}
				return p
			}
			free := func(p *owned, owner int64) {
				p.leave(t, owner)
				c.Free(p)
				live.Add(-1)
			}
			worker := func() {
				defer wg.Done()
				me := owner.Add(1)
				var mine []*owned
				for n := 1; !end.Load(); n++ {
					switch rand.IntN(8) {
					case 0, 1, 2:
						if p := alloc(); p != nil {
							p.take(t, me)
							mine = append(mine, p)
						}
					case 3, 4:
						if len(mine) > 0 {
							i := rand.IntN(len(mine))
							free(mine[i], me)
							mine[i] = mine[len(mine)-1]
							mine = mine[:len(mine)-1]
						}
					case 5:
						if len(mine) > 0 { // somebody else is to free it
							select {
							case trade <- mine[len(mine)-1]:
								mine = mine[:len(mine)-1]
							default:
							}
						}
					case 6:
						select {
						case p := <-trade:
							free(p, p.owner.Load())
						default:
						}
					case 7:
						if n%64 != 0 {
							break
						}
						batch := make([]*owned, rand.IntN(200))
						if c.AllocBatch(batch) == nil {
							live.Add(int64(len(batch)))
							for _, p := range batch {
								p.take(t, me)
							}
							for _, p := range batch {
								p.leave(t, me)
							}
							live.Add(-int64(len(batch)))
							c.FreeBatch(batch)
						}
					}
					if len(mine) > 400 {
						for _, p := range mine {
							free(p, me)
						}
						mine = nil
					}
				}
				for _, p := range mine {
					free(p, me)
				}
			}
			for range 8 {
				wg.Add(1)
				go worker()
			}
			for start := time.Now(); time.Since(start) < stressTime(); {
				runtime.GOMAXPROCS(1 + rand.IntN(10))
				if rand.IntN(4) == 0 {
					c.Trim()
				}
				if s := c.Stats(); name == "capacity" && s.Capacity != capacity {
					t.Errorf("%+v", s)
				}
				runtime.Gosched()
				wg.Add(1)
				go func() { // that comes and goes
					defer wg.Done()
					me := owner.Add(1)
					if p := alloc(); p != nil {
						p.take(t, me)
						runtime.Gosched()
						free(p, me)
					}
				}()
			}
			end.Store(true)
			wg.Wait()
			close(trade)
			for p := range trade {
				free(p, p.owner.Load())
			}
			if s := atRest(t, c); s.InUse != 0 {
				t.Errorf("all is freed, but %v", s)
			}
			c.Trim()
			if s := atRest(t, c); s.Objects != 0 {
				t.Errorf("objects were lost: %v", s)
			}
		})
	}
}

// No more objects than the capacity are out at any moment.
func TestCapacityIsNeverExceeded(t *testing.T) {
	const capacity, goroutines = 20, 8
	c := slab.NewCache(slab.Config[owned]{Capacity: capacity})
	var (
		out   atomic.Int64 // at most as many as are allocated
		fails atomic.Int64
		wg    sync.WaitGroup
	)
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var mine []*owned
			for range 20000 {
				if rand.IntN(2) == 0 {
					p, err := c.TryAlloc()
					if err != nil {
						fails.Add(1)
						continue
					}
					if n := out.Add(1); n > capacity {
						t.Errorf("%d objects are out", n)
					}
					mine = append(mine, p)
				} else if n := len(mine); n > 0 {
					out.Add(-1)
					c.Free(mine[n-1])
					mine = mine[:n-1]
				}
			}
			for _, p := range mine {
				out.Add(-1)
				c.Free(p)
			}
		}()
	}
	wg.Wait()
	if fails.Load() == 0 {
		t.Error("the capacity was never reached")
	}
	exhaust(t, c, capacity)
}

// exhaust fails the test unless exactly n objects can be allocated, which it
// frees again.
func exhaust[T any](t testing.TB, c *slab.Cache[T], n int) {
	t.Helper()
	before := atRest(t, c).InUse
	all := make([]*T, n)
	for i := range all {
		p, err := c.TryAlloc()
		if err != nil {
			t.Fatalf("with %d of %d objects in use: %v", i, n, err)
		}
		all[i] = p
	}
	if _, err := c.TryAlloc(); !errors.Is(err, slab.ErrExhausted) {
		t.Errorf("with all %d objects in use: %v", n, err)
	}
	c.FreeBatch(all)
	if s := atRest(t, c); s.InUse != before {
		t.Errorf("%d objects in use, want %d as before", s.InUse, before)
	}
}

// As long as fewer objects than the capacity are in use, being allocated or being
// freed, no Alloc fails, wherever objects were freed.
func TestCapacityIsEnough(t *testing.T) {
	const capacity, goroutines = 150, 8
	c := slab.NewCache(slab.Config[owned]{Capacity: capacity})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	tokens, trade := make(chan bool, capacity), make(chan *owned, capacity)
	for range capacity {
		tokens <- true
	}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20000 {
				select {
				case <-tokens:
					p, err := c.TryAlloc()
					if err != nil {
						t.Error(err)
						return
					}
					trade <- p
				case p := <-trade:
					c.Free(p)
					tokens <- true
				}
			}
		}()
	}
	wg.Wait()
	close(trade)
	for p := range trade {
		c.Free(p)
	}
	exhaust(t, c, capacity)
}

// A single goroutine gets all of the capacity, though the objects were freed on
// other Ps and lie in their magazines.
func TestCapacityFromOtherPs(t *testing.T) {
	const capacity = 300
	for _, procs := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		c := slab.NewCache(slab.Config[owned]{Capacity: capacity})
		for range 5 {
			all := make([]*owned, capacity)
			for i := range all {
				all[i] = c.Alloc()
			}
			var wg sync.WaitGroup
			for g := range 10 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := g; i < capacity; i += 10 {
						c.Free(all[i])
						runtime.Gosched()
					}
				}()
			}
			wg.Wait()
			exhaust(t, c, capacity)
		}
	}
}

// Magazines that go into cells while these are taken out of use are not lost.
func TestShrinkWhileExchanging(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	c := slab.NewCache[owned]()
	var end atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			all := make([]*owned, 3*slab.Limit(c))
			for !end.Load() {
				c.AllocBatch(all)
				c.FreeBatch(all)
			}
		}()
	}
	for start := time.Now(); time.Since(start) < stressTime()/2; {
		c.Trim()
	}
	end.Store(true)
	wg.Wait()
	c.Trim()
	if s := atRest(t, c); s.Objects != 0 || s.InUse != 0 {
		t.Errorf("objects were lost: %+v", s)
	}
}
