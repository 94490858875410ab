package slab_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A session is costly to build, and used again.
type session struct {
	buf   []byte // built
	user  string // used
	built int
}

// build fails the test if the session it is given is not zero.
func build(t testing.TB, p *session) {
	if p.buf != nil || p.user != "" || p.built != 0 {
		t.Errorf("Init is given %+v, want zero", *p)
	}
	p.buf = make([]byte, 1)
	p.built++
}

// What Alloc returns depends on which of the callbacks there are.
func TestInitAndReset(t *testing.T) {
	inits, resets := 0, 0
	init := func(p *session) {
		inits++
		build(t, p)
	}
	reset := func(p *session) {
		resets++
		p.user = ""
	}
	use := func(c *slab.Cache[session], wantBuilt int, wantBuf bool) {
		t.Helper()
		inits, resets = 0, 0
		var all [100]*session
		for round := range 4 {
			for i := range all {
				all[i] = c.Alloc()
			}
			for i, p := range all {
				if p.user != "" || p.built != min(wantBuilt, 1) && wantBuilt < 2 || p.buf == nil && wantBuf {
					t.Fatalf("round %d: object %d is %+v", round, i, *p)
				}
				p.user = "somebody"
			}
			for i := range all {
				c.Free(all[i])
			}
		}
		if s := atRest(t, c); s.InUse != 0 {
			t.Errorf("%+v", s)
		}
	}
	use(slab.NewCache[session](), 0, false)
	if inits != 0 || resets != 0 {
		t.Errorf("no callbacks: %d calls of Init, %d of Reset", inits, resets)
	}

	use(slab.NewCache(slab.Config[session]{Init: init}), 1, true)
	if inits != 400 || resets != 0 {
		t.Errorf("Init alone: %d calls, want one for each Alloc", inits)
	}

	use(slab.NewCache(slab.Config[session]{Reset: reset}), 0, false)
	if inits != 0 || resets != 400 {
		t.Errorf("Reset alone: %d calls, want one for each Free", resets)
	}

	c := slab.NewCache(slab.Config[session]{Init: init, Reset: reset})
	use(c, 1, true)
	if s := c.Stats(); resets != 400 || inits < 100 || inits > s.Objects {
		t.Errorf("Init and Reset: %d calls of Init, want one for each of at most %d slots; %d of Reset", inits, s.Objects, resets)
	}
	c.Trim()
	use(c, 1, true)
	if s := c.Stats(); inits < 100 || inits > s.Objects {
		t.Errorf("%d calls of Init for new slabs, want one for each of at most %d slots", inits, s.Objects)
	}
}

// With Reset alone the next user sees what it left.
func TestResetAlone(t *testing.T) {
	testkit.NeedsReuse(t)
	c := slab.NewCache(slab.Config[session]{Reset: func(p *session) { p.user = "" }})
	p := c.Alloc()
	*p = session{buf: []byte{1}, user: "u", built: 3}
	c.Free(p)
	q := c.Alloc()
	if q != p || q.buf == nil || q.built != 3 || q.user != "" {
		t.Errorf("Alloc returned %+v", *q)
	}
}

// Callbacks are called for objects without size, for which nothing is kept.
func TestCallbacksUnsized(t *testing.T) {
	inits, resets := 0, 0
	for _, c := range []*slab.Cache[struct{}]{
		slab.NewCache(slab.Config[struct{}]{Init: func(*struct{}) { inits++ }}),
		slab.NewCache(slab.Config[struct{}]{Init: func(*struct{}) { inits++ }, Reset: func(*struct{}) { resets++ }}),
	} {
		inits = 0
		for range 5 {
			c.Free(c.Alloc())
		}
		var batch [3]*struct{}
		c.AllocBatch(batch[:])
		c.FreeBatch(batch[:])
		if inits != 8 {
			t.Errorf("%d calls of Init", inits)
		}
	}
	if resets != 8 {
		t.Errorf("%d calls of Reset", resets)
	}
}

// A way to leave a callback.
type escape struct {
	name string
	now  func()
	// seen runs f, which escapes, in a goroutine of its own if it has to be.
	seen func(t *testing.T, f func())
}

var escapes = []escape{
	{"panic", func() { panic("gave up") }, func(t *testing.T, f func()) {
		t.Helper()
		testkit.PanicText(t, "gave up", f)
	}},
	{"Goexit", runtime.Goexit, func(t *testing.T, f func()) {
		t.Helper()
		done, returned := make(chan bool), false
		go func() {
			defer close(done)
			f()
			returned = true
		}()
		<-done
		if returned {
			t.Error("the call returned after Goexit")
		}
	}},
}

// The ways to get objects, and to give them back.
var (
	allocs = map[string]func(c *slab.Cache[session]){
		"Alloc":      func(c *slab.Cache[session]) { c.Alloc() },
		"TryAlloc":   func(c *slab.Cache[session]) { c.TryAlloc() },
		"AllocBatch": func(c *slab.Cache[session]) { c.AllocBatch(make([]*session, 70)) },
		"Reserve":    func(c *slab.Cache[session]) { c.Reserve(70) },
	}
	frees = map[string]func(c *slab.Cache[session], ps []*session){
		"Free": func(c *slab.Cache[session], ps []*session) {
			for i, p := range ps {
				ps[i] = nil
				c.Free(p)
			}
		},
		"FreeBatch": (*slab.Cache[session]).FreeBatch,
	}
)

// An Init that does not return loses no slot, and no capacity: whichever it is
// called for, and whoever asked.
func TestInitEscapes(t *testing.T) {
	const capacity = 100
	for _, e := range escapes {
		for name, alloc := range allocs {
			for _, kept := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s in %s, Reset %v", e.name, name, kept), func(t *testing.T) {
					left := 0 // calls until it escapes; 0 is never
					conf := slab.Config[session]{Name: "c", Capacity: capacity, Init: func(p *session) {
						build(t, p)
						p.user = "unfinished"
						if left--; left == 0 {
							e.now()
						}
						p.user = ""
					}}
					if kept {
						conf.Reset = func(p *session) { p.user = "" }
					}
					c := slab.NewCache[session](conf)
					var held []*session
					if !kept { // whose slab would keep what is built
						held = append(held, c.Alloc())
					}
					for i := range rounds() {
						left = 1 + i%50
						if kept {
							c.Trim() // or there is nothing to build
						} else if strings.HasSuffix(name, "Alloc") {
							left = 1
						}
						e.seen(t, func() { alloc(c) })
						if left != 0 {
							t.Fatalf("round %d: %d more calls of Init until it escapes", i, left)
						}
						if s := c.Stats(); s.InUse != len(held) {
							t.Fatalf("round %d: %+v", i, s)
						}
					}
					exhaust(t, c, capacity-len(held))
					c.FreeBatch(held)
					c.Trim()
					if s := atRest(t, c); s.Objects != 0 {
						t.Errorf("%+v", s)
					}
				})
			}
		}
	}
}

// rounds is how often a callback escapes.
func rounds() int {
	if testing.Short() || magazine.Race {
		return 100
	}
	return 1000
}

// A Reset that does not return frees the object all the same: it is set to zero
// and built again.
func TestResetEscapes(t *testing.T) {
	const capacity = 60
	for _, e := range escapes {
		for name, free := range frees {
			for _, withInit := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s in %s, Init %v", e.name, name, withInit), func(t *testing.T) {
					left, inits := 0, 0
					conf := slab.Config[session]{Capacity: capacity, Reset: func(p *session) {
						if left--; left == 0 {
							e.now()
						}
						p.user = ""
					}}
					if withInit {
						conf.Init = func(p *session) {
							inits++
							build(t, p)
						}
					}
					c := slab.NewCache[session](conf)
					all := make([]*session, 20)
					for i := range rounds() {
						c.AllocBatch(all)
						for _, p := range all {
							if p.user != "" || (p.buf != nil) != withInit {
								t.Fatalf("round %d: %+v", i, *p)
							}
							p.user = "u"
						}
						left = 1 + i%len(all)
						bad := all[left-1]
						e.seen(t, func() { free(c, all) })
						if !isZero(bad) {
							t.Fatalf("not zero after %s in Reset: %+v", e.name, *bad)
						}
						// What is not nil was not freed.
						rest := all[1+i%len(all):]
						if s := c.Stats(); s.InUse != len(rest) {
							t.Fatalf("round %d: %+v, want %d active", i, s, len(rest))
						}
						free(c, rest)
						for _, p := range all {
							if p != nil {
								t.Fatalf("%v was not set to nil", p)
							}
						}
					}
					if withInit && inits < rounds() {
						t.Errorf("%d calls of Init", inits)
					}
					exhaust(t, c, capacity)
				})
			}
		}
	}
}

// A Reset that does not return, for an object that should not have been freed,
// leaves the cache as if it had not been.
func TestResetEscapesMistake(t *testing.T) {
	testkit.NeedsReuse(t)
	for name, mistake := range map[string]func(c *slab.Cache[session]) *session{
		"twice": func(c *slab.Cache[session]) *session {
			p := c.Alloc()
			c.Free(p)
			c.Trim()
			return p
		},
		"in the depot": func(c *slab.Cache[session]) *session {
			all := make([]*session, 200)
			c.AllocBatch(all)
			p := all[0]
			c.FreeBatch(all)
			return p
		},
		"foreign": func(*slab.Cache[session]) *session { return new(session) },
	} {
		t.Run(name, func(t *testing.T) {
			onOneP(t)
			quiet(t)
			escape := false
			c := slab.NewCache(slab.Config[session]{Capacity: 300, Reset: func(p *session) {
				if escape {
					panic("gave up")
				}
			}})
			c.Free(c.Alloc())
			held := c.Alloc()
			p := mistake(c)
			for range 10 {
				escape = true
				testkit.PanicText(t, "gave up", func() { c.Free(p) })
				escape = false
				if s := atRest(t, c); s.InUse != 1 {
					t.Fatalf("%+v", s)
				}
			}
			exhaust(t, c, 299)
			c.Free(held)
			exhaust(t, c, 300)
		})
	}
}

// Close gives back all that was not taken, whatever Reset does.
func TestCloseEscapes(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			calls := 0
			c := slab.NewCache(slab.Config[session]{Capacity: 100, Reset: func(p *session) {
				if calls++; calls%3 != 0 {
					e.now()
				}
			}})
			for range 20 {
				r, err := c.Reserve(70)
				if err != nil {
					t.Fatal(err)
				}
				held := r.Take()
				calls = 0
				e.seen(t, r.Close)
				if calls != 69 {
					t.Errorf("%d calls of Reset, want 69", calls)
				}
				calls = 2
				c.Free(held)
				if s := atRest(t, c); s.InUse != 0 {
					t.Fatalf("%+v", s)
				}
			}
		})
	}
}

// The same for objects without size, of which only the number is kept.
func TestCallbacksEscapeUnsized(t *testing.T) {
	for _, e := range escapes {
		escape := false
		now := func(*struct{}) {
			if escape {
				e.now()
			}
		}
		c := slab.NewCache(slab.Config[struct{}]{Capacity: 3, Init: now, Reset: now})
		held := c.Alloc()
		for range 100 {
			escape = true
			e.seen(t, func() { c.Alloc() })
			e.seen(t, func() { c.AllocBatch(make([]*struct{}, 2)) })
			escape = false
			p := c.Alloc()
			escape = true
			e.seen(t, func() { c.Free(p) })
		}
		escape = false
		exhaust(t, c, 2)
		c.Free(held)
		escape = true
		e.seen(t, func() { c.Free(held) }) // a mistake on top
		escape = false
		exhaust(t, c, 3)
	}
}

// Callbacks may use the cache that calls them.
func TestCallbacksCallBack(t *testing.T) {
	testkit.NeedsReuse(t)
	type pair struct {
		other *pair
		depth int
	}
	for _, kept := range []bool{false, true} {
		var c *slab.Cache[pair]
		depth := 0
		conf := slab.Config[pair]{Capacity: 3000, Init: func(p *pair) {
			if depth < 3 {
				depth++
				p.other = c.Alloc()
				p.other.depth = depth
				var batch [80]*pair
				if err := c.AllocBatch(batch[:]); err != nil {
					t.Error(err)
				}
				c.Stats()
				if depth == 2 {
					c.Trim()
				}
				c.FreeBatch(batch[:])
				depth--
			}
		}}
		if kept {
			conf.Reset = func(p *pair) {
				if p.other != nil {
					c.Free(p.other)
					c.Free(c.Alloc())
				}
				*p = pair{}
			}
		}
		c = slab.NewCache[pair](conf)
		depth = 2
		p := c.Alloc()
		if !kept {
			if p.other == nil || p.other.depth != 3 {
				t.Errorf("%+v", *p)
			}
			c.Free(p.other)
		}
		c.Free(p)
		depth = 3
		if s := atRest(t, c); kept && s.InUse == 0 || !kept && s.InUse != 0 { // built ones have others
			t.Errorf("%+v", s)
		}
		if !kept {
			exhaust(t, c, 3000)
		}
	}
}

// Many goroutines at the same time, with an Init that fails now and then: each
// slot is built once, and none is lost.
func TestCallbacksConcurrently(t *testing.T) {
	const capacity = 1000
	var calls atomic.Int64
	c := slab.NewCache(slab.Config[session]{
		Capacity: capacity,
		Init: func(p *session) {
			build(t, p)
			switch calls.Add(1) % 97 {
			case 5:
				panic("gave up")
			case 6:
				runtime.Goexit()
			}
		},
		Reset: func(p *session) {
			p.user = ""
			switch calls.Add(1) % 101 {
			case 5:
				panic("gave up")
			case 6:
				runtime.Goexit()
			}
		},
	})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	stop := testkit.Hammer()
	var wg sync.WaitGroup
	for range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				done := make(chan bool)
				go func() {
					defer close(done)
					defer func() { recover() }()
					p, err := c.TryAlloc()
					if err != nil {
						t.Error(err)
						return
					}
					if p.user != "" || p.built != 1 || len(p.buf) != 1 {
						t.Errorf("%+v", *p)
					}
					p.user = "u"
					c.Free(p)
				}()
				<-done
			}
		}()
	}
	wg.Wait()
	stop()
	calls.Store(-1 << 40) // no more of that
	exhaust(t, c, capacity)
}
