package slab_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// atRest returns the numbers of a cache that nobody uses but a step after a
// garbage collection, once all that is in it is where it should be.
func atRest[T any](t testing.TB, c *slab.Cache[T]) slab.Stats {
	t.Helper()
	var err error
	for range 2000 {
		s := c.Stats()
		if err = slab.CheckAtRest(c, s); err == nil {
			return s
		}
		time.Sleep(time.Millisecond) // a step takes some microseconds
	}
	t.Fatalf("the cache is damaged: %v", err)
	return slab.Stats{}
}

// onOneP runs the test on a single P, so that its magazines are the same
// throughout.
func onOneP(t testing.TB) {
	old := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	// The cleanup by which steps are told of collections may have stayed on another P
	// (GC.md fact 15), until Check makes a new one.
	var told atomic.Bool
	p := new(*byte)
	gccycle.Watch(p, func(**byte, gccycle.Pressure) { told.Store(true) })
	testkit.Until(t, "somebody is told of collections", func() bool {
		gccycle.Check()
		testkit.CollectGarbage()
		return told.Load()
	})
	runtime.KeepAlive(p)
}

// A linked has pointers at both ends.
type linked struct {
	next *linked
	key  int
	text string
	prev *linked
}

// A kind is a type of objects: how to fill one, and how to see that it still
// holds that.
type kind[T any] struct {
	fill func(p *T, x int)
	ok   func(p *T, x int) bool
}

// scalars is the kind of arrays without pointers.
func scalars[T any, E uint8 | uint32 | uint64](view func(*T) []E) kind[T] {
	return kind[T]{
		func(p *T, x int) {
			for i, s := 0, view(p); i < len(s); i++ {
				s[i] = E(x + i + 1)
			}
		},
		func(p *T, x int) bool {
			for i, e := range view(p) {
				if e != E(x+i+1) {
					return false
				}
			}
			return true
		},
	}
}

// pointers is the kind of arrays of pointers, which hold the only references to
// what they point to.
func pointers[T any](view func(*T) []*int) kind[T] {
	at := func(p *T) []int { // not all of a large one
		n := len(view(p))
		return []int{0, n / 2, n - 1}
	}
	return kind[T]{
		func(p *T, x int) {
			for _, i := range at(p) {
				view(p)[i] = new(int)
				*view(p)[i] = x
			}
		},
		func(p *T, x int) bool {
			for _, i := range at(p) {
				if *view(p)[i] != x {
					return false
				}
			}
			return true
		},
	}
}

func TestKinds(t *testing.T) {
	run(t, kind[struct{}]{func(*struct{}, int) {}, func(*struct{}, int) bool { return true }}, 200)
	run(t, kind[[0]uint64]{func(*[0]uint64, int) {}, func(*[0]uint64, int) bool { return true }}, 200)
	run(t, scalars(func(p *[1]uint8) []uint8 { return p[:] }), 20000)
	run(t, scalars(func(p *[3]uint8) []uint8 { return p[:] }), 5000)
	run(t, scalars(func(p *[1]uint64) []uint64 { return p[:] }), 2000)
	run(t, pointers(func(p *[1]*int) []*int { return p[:] }), 2000)
	run(t, scalars(func(p *[24]uint8) []uint8 { return p[:] }), 1000)
	run(t, kind[linked]{
		func(p *linked, x int) { *p = linked{&linked{key: x}, x, fmt.Sprint("text ", x), p} },
		func(p *linked, x int) bool {
			return p.next.key == x && p.key == x && p.text == fmt.Sprint("text ", x) && p.prev == p
		},
	}, 1000)
	run(t, scalars(func(p *[64]uint8) []uint8 { return p[:] }), 1000)
	run(t, pointers(func(p *[8]*int) []*int { return p[:] }), 1000)
	run(t, scalars(func(p *[25]uint32) []uint32 { return p[:] }), 1000)
	run(t, scalars(func(p *[64]uint64) []uint64 { return p[:] }), 500)
	run(t, pointers(func(p *[64]*int) []*int { return p[:] }), 500)
	run(t, scalars(func(p *[4096]uint8) []uint8 { return p[:] }), 100)
	run(t, pointers(func(p *[512]*int) []*int { return p[:] }), 100)
	run(t, scalars(func(p *[70 << 10]uint8) []uint8 { return p[:] }), 9)
	run(t, pointers(func(p *[70 << 7]*int) []*int { return p[:] }), 9)
	run(t, scalars(func(p *[1 << 20]uint8) []uint8 { return p[:] }), 4)
	run(t, pointers(func(p *[1 << 17]*int) []*int { return p[:] }), 4)
}

// run takes n objects of a type through their life, with and without options.
func run[T any](t *testing.T, k kind[T], n int) {
	t.Run(fmt.Sprintf("%T", *new(T)), func(t *testing.T) {
		for name, c := range map[string]*slab.Cache[T]{
			"zero Cache": {},
			"NewCache":   slab.NewCache[T](),
			"capacity":   slab.NewCache(slab.Config[T]{Capacity: n, Name: "k"}),
			"callbacks":  slab.NewCache(slab.Config[T]{Init: func(*T) {}, Reset: func(p *T) { clear(unsafe.Slice(p, 1)) }}),
		} {
			t.Run(name, func(t *testing.T) { live(t, c, k, n) })
		}
	})
}

func live[T any](t *testing.T, c *slab.Cache[T], k kind[T], n int) {
	size := unsafe.Sizeof(*new(T))
	held := map[*T]int{}
	x := 0
	alloc := func() {
		p := c.Alloc()
		if _, twice := held[p]; twice && size > 0 {
			t.Fatalf("%p was handed out twice", p)
		}
		if !isZero(p) {
			t.Fatalf("%p is not zero: %v", p, *p)
		}
		x++
		k.fill(p, x)
		held[p] = x
	}
	check := func() {
		t.Helper()
		at := make([]uintptr, 0, len(held))
		for p, x := range held {
			if !k.ok(p, x) {
				t.Fatalf("%p does not hold what was stored", p)
			}
			if uintptr(unsafe.Pointer(p))%unsafe.Alignof(*p) != 0 {
				t.Fatalf("%p is not aligned to %d", p, unsafe.Alignof(*p))
			}
			at = append(at, uintptr(unsafe.Pointer(p)))
		}
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < size {
				t.Fatalf("%#x and %#x overlap, of %d bytes each", at[i-1], at[i], size)
			}
		}
		if s := atRest(t, c); size > 0 && s.InUse != len(held) || s.ObjectSize != int(size) {
			t.Fatalf("%d objects of %d bytes are held, but %+v", len(held), size, s)
		}
	}
	for round := range 3 {
		for range n - len(held) {
			alloc()
		}
		if round == 1 {
			testkit.CollectGarbage()
		}
		check()
		i := 0
		for p := range held { // in random order
			if i++; i%3 == round {
				continue
			}
			delete(held, p)
			c.Free(p)
			if i%5 == 0 {
				alloc()
			}
		}
		check()
		if size == 0 { // held has one of them only
			for range c.Stats().InUse - len(held) {
				c.Free(new(T))
			}
		}
	}
	for p := range held {
		c.Free(p)
	}
	held = nil
	for c.Stats().InUse > 0 && size == 0 {
		c.Free(new(T))
	}
	if s := atRest(t, c); s.InUse != 0 {
		t.Errorf("all is free, but %+v", s)
	}
	bytes := c.Stats().Bytes
	if got := c.Trim(); got != bytes {
		t.Errorf("Trim gave back %d of %d bytes", got, bytes)
	}
	if s := atRest(t, c); s.Objects != 0 || s.Bytes != 0 {
		t.Errorf("after Trim %+v", s)
	}
}

// isZero reports whether all bytes of *p are zero.
func isZero[T any](p *T) bool {
	b := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	return bytes.Count(b, []byte{0}) == len(b)
}

// Free zeroes the object at once, whatever its size, and allocates nothing.
func TestFreeZeroes(t *testing.T) {
	testkit.NeedsReuse(t)
	freeZeroes(t, [1]*int{new(int)})
	freeZeroes(t, [60 << 10]byte{1, 60<<10 - 1: 1})
	freeZeroes(t, [70 << 10]byte{1, 70<<10 - 1: 1})
	freeZeroes(t, [1 << 20]byte{1, 1<<20 - 1: 1})
	freeZeroes(t, [1 << 17]*int{new(int), 1<<17 - 1: new(int)})
}

func freeZeroes[T any](t *testing.T, v T) {
	for _, c := range []*slab.Cache[T]{{}, slab.NewCache(slab.Config[T]{Capacity: 2})} {
		p := c.Alloc()
		*p = v
		c.Free(p)
		if !isZero(p) {
			t.Errorf("%T: not zero after Free", v)
		}
		if n := testing.AllocsPerRun(10, func() { c.Free(c.Alloc()) }); n != 0 && magazine.Pinned { // else a stack that moves finds another cell
			testkit.NeedsExactAllocs(t)
			t.Errorf("%T: %v allocs for an Alloc and a Free", v, n)
		}
	}
}

// What live objects refer to lives, and what was freed refers to nothing.
func TestKeepsWhatLives(t *testing.T) {
	var census testkit.Census
	c := slab.NewCache[linked]()
	var held []*linked
	for i := range 1000 {
		p := c.Alloc()
		p.next = testkit.Enroll(&census, &linked{key: i})
		p.prev = c.Alloc() // in the same slabs
		p.prev.next = testkit.Enroll(&census, &linked{key: -i})
		held = append(held, p)
	}
	testkit.CollectGarbage()
	if n := census.Alive(); n != 2000 {
		t.Errorf("%d objects live, want 2000", n)
	}
	for i, p := range held {
		if p.next.key != i || p.prev.next.key != -i {
			t.Fatalf("object %d refers to something else: %+v", i, *p)
		}
		c.Free(p.prev)
		if i%2 == 0 {
			c.Free(p)
			held[i] = nil
		} else {
			p.prev = nil
		}
	}
	testkit.CollectGarbage()
	if n := census.Alive(); n != 500 {
		t.Errorf("%d objects live, want 500", n)
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(c)
}

// What is never freed goes with the cache, and a magazine keeps nothing alive
// that was popped from it.
func TestLetsGo(t *testing.T) {
	for name, free := range map[string]bool{"objects in magazines": true, "objects that were forgotten": false} {
		t.Run(name, func(t *testing.T) {
			var census testkit.Census
			c := slab.NewCache[linked]()
			var held []*linked
			for range 500 {
				held = append(held, testkit.Enroll(&census, c.Alloc()))
			}
			if free {
				c.FreeBatch(held)
			}
			runtime.KeepAlive(c)
			clear(held)
			testkit.CollectGarbage()
			if n := census.Alive(); n != 0 {
				t.Errorf("%d objects of a cache that is gone live", n)
			}
		})
	}
	t.Run("slabs given back", func(t *testing.T) {
		c := slab.NewCache[linked]()
		var census testkit.Census
		for range 10 {
			var held []*linked
			for range 300 {
				held = append(held, testkit.Enroll(&census, c.Alloc()))
			}
			c.FreeBatch(held)
			c.Trim()
		}
		testkit.CollectGarbage()
		if n := census.Alive(); n != 0 {
			t.Errorf("%d objects of slabs that were given back live", n)
		}
		runtime.KeepAlive(c)
	})
}

// A cache that is dropped is collected, though it is listed and told of
// garbage collections.
func TestDropped(t *testing.T) {
	var census testkit.Census
	name := func(i int) string { return fmt.Sprint("dropped ", i) }
	use := func(i int) *slab.Cache[linked] {
		c := testkit.Enroll(&census, slab.NewCache(slab.Config[linked]{Name: name(i), Capacity: 1000 * (i % 2)}))
		p := c.Alloc()
		p.prev = p // leads back to the slab
		c.Free(c.Alloc())
		if r, err := c.Reserve(3); err != nil || r.Take() == nil {
			t.Error(err)
		}
		return c
	}
	kept := use(100)
	for i := range 10 {
		use(i)
	}
	testkit.Eventually(t, "dropped caches are gone", func() bool { return census.Alive() == 1 })
	if got := listed("dropped "); !slices.Equal(got, []string{name(100)}) {
		t.Errorf("listed are %q", got)
	}
	runtime.KeepAlive(kept)
	testkit.Eventually(t, "all caches are gone", func() bool { return census.Alive() == 0 })
	if got := listed("dropped "); len(got) != 0 {
		t.Errorf("listed are %q", got)
	}
}

// listed returns the names in the list of caches that begin so.
func listed(prefix string) (names []string) {
	for s := range slab.Caches() {
		if strings.HasPrefix(s.Name, prefix) {
			names = append(names, s.Name)
		}
	}
	return names
}

// globalCache is a zero Cache that is no object of Go's heap.
var globalCache slab.Cache[linked]

func TestGlobal(t *testing.T) {
	testkit.NeedsReuse(t)
	p := globalCache.Alloc()
	p.next = &linked{key: 5}
	testkit.CollectGarbage()
	if p.next.key != 5 || globalCache.Stats().InUse != 1 {
		t.Errorf("%+v, %v", *p, &globalCache)
	}
	globalCache.Free(p)
	testkit.Eventually(t, "a global cache gives its memory back", func() bool {
		return globalCache.Stats().Slabs == 0
	})
	atRest(t, &globalCache)
}

// Each method makes a zero Cache ready.
func TestZeroCache(t *testing.T) {
	for name, use := range map[string]func(c *slab.Cache[linked]){
		"Alloc":      func(c *slab.Cache[linked]) { c.Alloc() },
		"TryAlloc":   func(c *slab.Cache[linked]) { c.TryAlloc() },
		"AllocBatch": func(c *slab.Cache[linked]) { c.AllocBatch(make([]*linked, 3)) },
		"no batch":   func(c *slab.Cache[linked]) { c.AllocBatch(nil); c.FreeBatch(nil) },
		"Reserve":    func(c *slab.Cache[linked]) { c.Reserve(3) },
		"Trim": func(c *slab.Cache[linked]) {
			if n := c.Trim(); n != 0 {
				t.Errorf("Trim gave %d bytes", n)
			}
		},
		"Stats": func(c *slab.Cache[linked]) {
			want := slab.Stats{ObjectSize: int(unsafe.Sizeof(linked{})), PerSlab: c.Stats().PerSlab}
			if s := c.Stats(); s != want || s.PerSlab == 0 {
				t.Errorf("%+v", s)
			}
		},
		"String": func(c *slab.Cache[linked]) {
			if s := c.String(); !strings.HasPrefix(s, "a cache without a name: 0 of 0 objects") {
				t.Error(s)
			}
		},
	} {
		var c slab.Cache[linked]
		use(&c)
		if t.Failed() {
			t.Fatal(name)
		}
		c.Free(c.Alloc())
		atRest(t, &c)
	}
}
