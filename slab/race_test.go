package slab_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// These tests run in child processes under the race detector, which must report
// nothing that is right and everything that is wrong.

func needsRace(t *testing.T) {
	t.Helper()
	if !magazine.Race {
		t.Skip("the race detector is not in this build: run with -race")
	}
}

// A turn says whose turn it is, without the race detector knowing: what happens
// before a set is not known to happen before the wait for it.
type turn struct{ n int }

//go:norace
func (t *turn) set(n int) { t.n = n }

//go:norace
func (t *turn) get() int { return t.n }

func (t *turn) wait(n int) {
	for t.get() != n {
		runtime.Gosched()
	}
}

// inTurns runs the functions in goroutines of their own, one after the other as
// far as the clock goes.
func inTurns(fs ...func()) {
	var t turn
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.wait(i)
			f()
			t.set(i + 1)
		}()
	}
	wg.Wait()
}

// fill writes to all of an object.
func (p *linked) fill(n int) { *p = linked{p, n, "text", p} }

// Objects that go from one goroutine to another through a cache alone are not
// reported, whichever way they take.
func TestRaceHandOver(t *testing.T) {
	needsRace(t)
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	init := func(p *linked) { p.fill(1) }
	reset := func(p *linked) { p.fill(2) }
	for _, conf := range []slab.Config[linked]{{}, {Capacity: 10000}, {Init: init}, {Reset: reset}, {Init: init, Reset: reset}} {
		for name, f := range map[string]func(c *slab.Cache[linked]){
			"by the magazine of a P": func(c *slab.Cache[linked]) {
				one := func() {
					p := c.Alloc()
					p.fill(1)
					q := c.Alloc()
					c.Free(p)
					q.fill(3)
				}
				inTurns(one, one, one)
			},
			"by the depot": func(c *slab.Cache[linked]) {
				many := func() {
					all := make([]*linked, 1000)
					for i := range all {
						all[i] = c.Alloc()
						all[i].fill(i)
					}
					for i := range all {
						c.Free(all[i])
					}
					c.AllocBatch(all)
					for i := range all {
						all[i].fill(i)
					}
					c.FreeBatch(all[:500])
				}
				inTurns(many, many, many)
			},
			"by the slabs": func(c *slab.Cache[linked]) {
				some := func() {
					for range 100 {
						c.Alloc().fill(1)
					}
					p := c.Alloc()
					p.fill(2)
					c.Free(p)
				}
				inTurns(some, func() { c.Trim() }, some, func() { c.Stats() }, some)
			},
			"by a step": func(c *slab.Cache[linked]) {
				some := func() {
					p, q := c.Alloc(), c.Alloc()
					p.fill(1)
					q.fill(1)
					c.Free(p)
				}
				steps := func() {
					for range 4 {
						runtime.GC()
					}
				}
				inTurns(some, steps, some, steps, some)
			},
		} {
			t.Run(name, func(t *testing.T) {
				for _, procs := range []int{1, 1, 4, 4} {
					runtime.GOMAXPROCS(procs)
					f(slab.NewCache[linked](conf))
				}
			})
		}
	}
}

// The same for objects that come back because a callback did not return.
func TestRaceStale(t *testing.T) {
	needsRace(t)
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	try := func(f func()) {
		defer func() { recover() }()
		f()
	}
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		for _, both := range []bool{false, true} {
			conf := slab.Config[linked]{Init: func(p *linked) {
				p.fill(1)
				if rand.IntN(30) == 0 {
					panic("gave up")
				}
			}}
			if both {
				conf.Reset = func(p *linked) {
					p.fill(1)
					if rand.IntN(5) == 0 {
						panic("gave up")
					}
				}
			}
			c := slab.NewCache[linked](conf)
			some := func() {
				for range 50 {
					try(func() {
						p := c.Alloc()
						p.fill(2)
						c.Free(p)
					})
					try(func() {
						batch := make([]*linked, 20)
						c.AllocBatch(batch)
						for _, p := range batch {
							p.fill(3)
						}
						c.FreeBatch(batch)
					})
				}
			}
			inTurns(some, some, func() { c.Trim() }, some)
		}
	}
}

// Nothing is reported of goroutines that share nothing but a cache.
func TestRaceStress(t *testing.T) {
	needsRace(t)
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	init := func(p *linked) { p.fill(1) }
	reset := func(p *linked) { p.fill(2) }
	runtime.GOMAXPROCS(4)
	for _, conf := range []slab.Config[linked]{{}, {Capacity: 3000, Init: init}, {Init: init, Reset: reset}} {
		c := slab.NewCache[linked](conf)
		stop := testkit.Hammer()
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				var held []*linked
				for i := range 4000 {
					switch rand.IntN(10) {
					case 0, 1, 2, 3:
						p := c.Alloc()
						p.fill(g)
						held = append(held, p)
					case 4, 5, 6, 7:
						if n := len(held); n > 0 {
							k := rand.IntN(n)
							held[k].fill(i)
							c.Free(held[k])
							held[k] = held[n-1]
							held = held[:n-1]
						}
					case 8:
						batch := make([]*linked, rand.IntN(150))
						c.AllocBatch(batch)
						for _, p := range batch {
							p.fill(g)
						}
						c.FreeBatch(batch)
					case 9:
						switch rand.IntN(30) {
						case 0:
							c.Trim()
						case 1:
							c.Stats()
						case 2:
							runtime.GOMAXPROCS(1 + rand.IntN(6))
						}
					}
				}
				c.FreeBatch(held)
			}()
		}
		wg.Wait()
		stop()
	}
}

// What a user does to an object after its Free is reported, if it is somebody
// else's by then.
func TestRaceUseAfterFree(t *testing.T) {
	needsRace(t)
	if !testkit.InChild(t) {
		out, err := testkit.Child(t)
		if err == nil || !strings.Contains(out, "WARNING: DATA RACE") || !strings.Contains(out, "useAfterFree") || !strings.Contains(out, "nextOwner") {
			t.Errorf("child ended with %v:\n%s", err, out)
		}
		return
	}
	runtime.GOMAXPROCS(1)
	c := slab.NewCache[linked]()
	var t1 turn
	p := c.Alloc()
	others := make([]*linked, 1000)
	c.AllocBatch(others)
	done := make(chan bool)
	go func() {
		t1.wait(1)
		nextOwner(c, p)
		t1.set(2)
		close(done)
	}()
	c.Free(p)
	c.FreeBatch(others) // takes p to the depot, where others find it
	t1.set(1)
	t1.wait(2)
	useAfterFree(p)
	<-done
}

//go:noinline
func useAfterFree(p *linked) { p.key = 1 }

// nextOwner allocates p, of which it knows the address only.
//
//go:noinline
func nextOwner(c *slab.Cache[linked], p *linked) {
	for q := c.Alloc(); ; q = c.Alloc() {
		q.key = 2
		if q == p {
			return
		}
	}
}
