package slab_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A cookie has no pointers, so that halves of two cookies may be taken for one.
type cookie struct{ a, b uint64 }

// quiet switches garbage collections off, so that no step comes between.
func quiet(t testing.TB) {
	old := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// place returns p as a number.
func place[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

const (
	second  = "slab: second Free of *slab_test.cookie %#x in %s"
	foreign = "slab: Free of *slab_test.cookie %#x, which is no object of %s"
)

// mistakes are Frees that are wrong: each returns what to free once, and is given
// other objects that are in use.
var mistakes = []struct {
	name string
	make func(c *slab.Cache[cookie], others []*cookie) *cookie
	text string
}{
	{"twice", func(c *slab.Cache[cookie], _ []*cookie) *cookie {
		p := c.Alloc()
		c.Free(p)
		return p
	}, second},
	{"long after", func(c *slab.Cache[cookie], _ []*cookie) *cookie {
		p := c.Alloc()
		c.Alloc() // keeps the slab
		c.Free(p)
		c.Trim()
		return p
	}, second},
	{"a new object", func(*slab.Cache[cookie], []*cookie) *cookie {
		return new(cookie)
	}, foreign},
	{"of another cache", func(*slab.Cache[cookie], []*cookie) *cookie {
		return new(slab.Cache[cookie]).Alloc()
	}, foreign},
	{"inside of objects", func(c *slab.Cache[cookie], others []*cookie) *cookie {
		slices.SortFunc(others, func(p, q *cookie) int { return int(place(p)) - int(place(q)) })
		for i, p := range others[1:] {
			if place(p)-place(others[i]) == 16 {
				return (*cookie)(unsafe.Pointer(&others[i].b))
			}
		}
		panic("no neighbours")
	}, foreign},
	{"of a slab that is gone", func(c *slab.Cache[cookie], others []*cookie) *cookie {
		all := make([]*cookie, 1500) // of three slabs
		if err := c.AllocBatch(all); err != nil {
			panic(err)
		}
		far := slices.DeleteFunc(slices.Clone(all), func(p *cookie) bool {
			return slices.ContainsFunc(others, func(q *cookie) bool {
				return place(p)-place(q)+1<<13 < 1<<14
			})
		})
		c.FreeBatch(all)
		c.Trim()
		return far[len(far)/2]
	}, foreign},
}

// eachMistake makes each mistake in caches with different options, has it found,
// and checks what is said and what becomes of the cache.
func eachMistake(t *testing.T, find func(t *testing.T, c *slab.Cache[cookie], others []*cookie) (got any)) {
	for _, m := range mistakes {
		for title, conf := range map[string]slab.Config[cookie]{
			"a cache without a name": slab.Config[cookie]{},
			`cache "small"`:          {Name: "small", Capacity: 5000},
			`cache "kept"`:           {Name: "kept", Init: func(*cookie) {}, Reset: func(p *cookie) {}},
		} {
			t.Run(m.name+" in "+title, func(t *testing.T) {
				c := slab.NewCache[cookie](conf)
				others := make([]*cookie, 4*slab.Limit(c))
				c.AllocBatch(others)
				p := m.make(c, others)
				active := atRest(t, c).InUse - len(others)
				c.Free(p)
				want := fmt.Sprintf(m.text, place(p), title)
				if got := find(t, c, others); got != any(want) {
					t.Errorf("panic\n got %v\nwant %v", got, want)
				}
				for _, p := range others {
					if p != nil {
						c.Free(p)
					}
				}
				intact(t, c, active)
			})
		}
	}
}

// intact checks that a cache is as if no mistake had been made: so many objects
// are in use, what it hands out is different each time, and of the capacity
// nothing is lost.
func intact(t *testing.T, c *slab.Cache[cookie], active int) {
	t.Helper()
	if s := atRest(t, c); s.InUse != active {
		t.Errorf("%d objects in use, want %d", s.InUse, active)
	}
	c.Trim()
	s := atRest(t, c)
	if s.Capacity > 0 {
		exhaust(t, c, s.Capacity-active)
	}
	all := make([]*cookie, s.Objects-active+1000)
	if err := c.AllocBatch(all); err != nil {
		t.Fatal(err)
	}
	seen := map[*cookie]bool{}
	for _, p := range all {
		if seen[p] {
			t.Fatalf("%p was handed out twice", p)
		}
		seen[p] = true
	}
	c.FreeBatch(all)
	c.Trim()
	if s := atRest(t, c); s.InUse != active {
		t.Errorf("%d objects in use, want %d", s.InUse, active)
	}
}

// A mistake is found when the magazine goes to the depot: at the latest when as
// many objects were freed as a P's two magazines take.
func TestMisuseFoundAtFlush(t *testing.T) {
	testkit.NeedsReuse(t)
	if !magazine.Pinned {
		testkit.NeedsExactAllocs(t) // or each operation is in another cell
	}
	onOneP(t)
	quiet(t)
	for name, free := range map[string]func(c *slab.Cache[cookie], ps []*cookie){
		"Free": func(c *slab.Cache[cookie], ps []*cookie) {
			for i, p := range ps {
				ps[i] = nil
				c.Free(p)
			}
		},
		"FreeBatch": (*slab.Cache[cookie]).FreeBatch,
	} {
		t.Run(name, func(t *testing.T) {
			eachMistake(t, func(t *testing.T, c *slab.Cache[cookie], others []*cookie) any {
				return testkit.Panic(t, func() { free(c, others[:2*slab.Limit(c)+1]) })
			})
		})
	}
}

// Trim finds mistakes, wherever they are.
func TestMisuseFoundByShrink(t *testing.T) {
	testkit.NeedsReuse(t)
	eachMistake(t, func(t *testing.T, c *slab.Cache[cookie], _ []*cookie) any {
		return testkit.Panic(t, func() { c.Trim() })
	})
}

// What a step finds after a garbage collection is told to whoever comes next,
// and does not end the program.
func TestMisuseFoundByStep(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	eachMistake(t, func(t *testing.T, c *slab.Cache[cookie], others []*cookie) any {
		before := c.Stats().InUse
		testkit.Eventually(t, "a step finds the mistake", func() bool { return c.Stats().InUse > before })
		return testkit.Panic(t, func() {
			for i := range others[:3*slab.Limit(c)] {
				p := others[i]
				others[i] = nil
				c.Free(p)
			}
		})
	})
}

// Also an Alloc may be told. The object that it was to return is not lost.
func TestMisuseToldByAlloc(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	for name, alloc := range map[string]func(c *slab.Cache[cookie]) (n int){
		"Alloc":      func(c *slab.Cache[cookie]) int { c.Alloc(); return 1 },
		"TryAlloc":   func(c *slab.Cache[cookie]) int { c.TryAlloc(); return 1 },
		"AllocBatch": func(c *slab.Cache[cookie]) int { c.AllocBatch(make([]*cookie, 90)); return 90 },
		"Reserve":    func(c *slab.Cache[cookie]) int { c.Reserve(90); return 90 },
	} {
		for title, conf := range map[string]slab.Config[cookie]{
			"a cache without a name": slab.Config[cookie]{},
			`cache "small"`:          {Name: "small", Capacity: 5000},
			`cache "kept"`: {
				Name: "kept",
				Init: func(p *cookie) {
					if *p != (cookie{}) {
						t.Errorf("Init is given %+v", *p)
					}
					p.a = 1
				},
				Reset: func(p *cookie) { p.b = 0 },
			},
		} {
			t.Run(name+" of "+title, func(t *testing.T) {
				c := slab.NewCache[cookie](conf)
				p := c.Alloc()
				c.Free(p)
				c.Free(p)
				testkit.Eventually(t, "a step finds the mistake", func() bool { return c.Stats().InUse == 0 })
				active := 0
				got := testkit.Panic(t, func() {
					for range 1000 {
						active += alloc(c)
					}
				})
				if want := fmt.Sprintf(second, place(p), title); got != any(want) {
					t.Errorf("panic\n got %v\nwant %v", got, want)
				}
				intact(t, c, active)
			})
		}
	}
}

// An object that two goroutines free at the same moment, each in a magazine that
// goes to the depot at that moment, is in it twice. That is found when it comes to
// its slab, which may be gone by then, or to the depot again.
func TestFreedAtOnce(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	for name, use := range map[string]func(t *testing.T, c *slab.Cache[cookie]){
		"Trim": func(t *testing.T, c *slab.Cache[cookie]) {},
		"Alloc": func(t *testing.T, c *slab.Cache[cookie]) {
			var all [700]*cookie
			for i := range all {
				all[i] = c.Alloc()
			}
			for _, p := range all {
				c.Free(p)
			}
		},
		"steps": func(t *testing.T, c *slab.Cache[cookie]) {
			testkit.Eventually(t, "all slabs are given back", func() bool { return c.Stats().Slabs == 0 })
		},
	} {
		for _, n := range []int{1, 57} {
			for _, between := range []int{0, 1000} {
				t.Run(fmt.Sprintf("%d, and %d between, then %s", n, between, name), func(t *testing.T) {
					c := slab.NewCache(slab.Config[cookie]{Capacity: 2000})
					others := make([]*cookie, between)
					c.AllocBatch(others)
					all := make([]*cookie, 1000) // the last of which have slabs of their own
					c.AllocBatch(all)
					p := all[len(all)-n:]
					c.FreeBatch(all[:len(all)-n])
					c.Trim()
					slab.FreeUnseen(c, p)
					c.FreeBatch(others)
					slab.FreeUnseen(c, p)
					got := func() (r any) {
						defer func() { r = recover() }()
						use(t, c)
						c.Trim()
						return nil
					}()
					if got == nil || !slices.ContainsFunc(p, func(p *cookie) bool {
						return got == any(fmt.Sprintf(second, place(p), "a cache without a name")) ||
							got == any(fmt.Sprintf(foreign, place(p), "a cache without a name"))
					}) {
						t.Errorf("panic %v, want one for a second Free", got)
					}
					if name != "Alloc" { // which was cut off
						intact(t, c, 0)
					}
				})
			}
		}
	}
}

// Mistakes are found whatever the turn of the magazine they are in.
func TestMisuseInAnyTurn(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	for _, turn := range []uint32{1, 10, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1} {
		for i := range uint32(1000) {
			c := slab.NewCache[cookie]()
			slab.SetTurn(c, turn-500+i)
			all := make([]*cookie, 100)
			c.AllocBatch(all)
			p := all[0]
			c.FreeBatch(all)
			c.Free(p)
			testkit.PanicText(t, fmt.Sprintf(second, place(p), "a cache without a name"), func() { c.Trim() })
			if t.Failed() {
				t.Fatalf("turn %d", turn-500+i)
			}
		}
	}
}

// Goroutines that free what is free already harm each other, and leave the cache
// whole.
func TestMisuseConcurrently(t *testing.T) {
	testkit.NeedsReuse(t)
	if magazine.Race {
		t.Skip("the race detector finds the mistake first")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const capacity = 1 << 13
	c := slab.NewCache(slab.Config[cookie]{Capacity: capacity})
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	stop := testkit.Hammer()
	var panics atomic.Int64
	try := func(f func()) (ok bool) {
		defer func() {
			if r := recover(); r != nil {
				panics.Add(1)
				if text, isText := r.(string); !isText || !strings.HasPrefix(text, "slab: second Free of *") && !strings.HasPrefix(text, "slab: Free of *") {
					t.Errorf("panic %v", r)
				}
			}
		}()
		f()
		return true
	}
	for range rounds {
		var shared [200]*cookie
		for !try(func() { c.AllocBatch(shared[:]) }) {
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for _, i := range rand.Perm(len(shared)) {
					try(func() { c.Free(shared[i]) })
					switch rand.IntN(20) {
					case 0:
						try(func() { c.Trim() })
					case 1:
						own := make([]*cookie, 100)
						if !try(func() { c.AllocBatch(own) }) {
							break
						}
						for len(own) > 0 {
							try(func() { c.FreeBatch(own) })
							for len(own) > 0 && own[0] == nil {
								own = own[1:]
							}
						}
					}
				}
			}()
		}
		wg.Wait()
	}
	stop()
	for !try(func() { c.Trim() }) {
	}
	if panics.Load() == 0 {
		t.Error("no mistake was found")
	}
	if s := atRest(t, c); s.InUse != 0 || s.Objects != 0 {
		t.Errorf("after %d panics %+v", panics.Load(), s)
	}
	exhaust(t, c, capacity)
}

// The simple mistakes.
func TestMisuseAtOnce(t *testing.T) {
	for title, c := range map[string]*slab.Cache[cookie]{
		"a cache without a name": {},
		`cache "c"`:              slab.NewCache(slab.Config[cookie]{Name: "c", Capacity: 10}),
	} {
		testkit.PanicText(t, "slab: Free of a nil *slab_test.cookie in "+title, func() { c.Free(nil) })
		p := c.Alloc()
		ps := []*cookie{p, nil, p}
		testkit.PanicText(t, "slab: FreeBatch of 3 objects, of which number 1 is a nil *slab_test.cookie, in "+title, func() { c.FreeBatch(ps) })
		if ps[0] != p || ps[2] != p {
			t.Error("objects were freed all the same")
		}
		testkit.PanicText(t, "slab: Reserve(-1) of "+title+": want a number of objects, 0 or more", func() { c.Reserve(-1) })
		if s := atRest(t, c); s.InUse != 1 {
			t.Errorf("%+v", s)
		}
		c.Free(p)
	}
	testkit.PanicText(t, "slab: Config.Capacity is -1: want a number of objects, 0 (no bound) or more", func() {
		slab.NewCache(slab.Config[cookie]{Capacity: -1})
	})
	testkit.PanicText(t, "slab: TableConfig.Capacity is -1: want a number of objects, 0 (no bound) or more", func() {
		slab.NewTable[cookie](slab.TableConfig{Capacity: -1})
	})
	testkit.PanicText(t, "slab: NewCache: 2 structs of settings: want one, or none", func() {
		slab.NewCache(slab.Config[cookie]{}, slab.Config[cookie]{})
	})
	testkit.PanicText(t, "slab: NewTable: 2 structs of settings: want one, or none", func() {
		slab.NewTable[cookie](slab.TableConfig{}, slab.TableConfig{})
	})
}

// What caches of all types have in common reads their Configs as those of one type.
func TestConfigsAreAlike(t *testing.T) {
	a, b := reflect.TypeFor[slab.Config[struct{}]](), reflect.TypeFor[slab.Config[[99]*int]]()
	for i := range a.NumField() {
		if f, g := a.Field(i), b.Field(i); f.Offset != g.Offset || f.Type.Kind() != g.Type.Kind() || f.Type.Size() != g.Type.Size() {
			t.Errorf("field %s is a %v at %d, or a %v at %d", f.Name, f.Type, f.Offset, g.Type, g.Offset)
		}
	}
}

// Of objects without size only the number is known.
func TestMisuseUnsized(t *testing.T) {
	const text = "slab: Free of *struct {} %#x, which is no object of cache \"unsized\""
	c := slab.NewCache(slab.Config[struct{}]{Name: "unsized", Capacity: 3})
	p := c.Alloc()
	c.Free(p)
	for range 5 {
		testkit.PanicText(t, fmt.Sprintf(text, place(p)), func() { c.Free(p) })
	}
	exhaust(t, c, 3)
	d := slab.NewCache(slab.Config[struct{}]{Name: "unsized"})
	ps := []*struct{}{d.Alloc(), d.Alloc(), p, p}
	testkit.PanicText(t, fmt.Sprintf(text, place(p)), func() { d.FreeBatch(ps) })
	if s := atRest(t, d); s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}
