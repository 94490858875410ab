//go:build !haven_check && !asan && !msan

package slab_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// isGuarded reports whether the object, of a type without pointers, is none of a slab.
func isGuarded[T any](p *T) bool {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return guard.Perhaps(unsafe.Pointer(p))
	}
	return guard.Within(unsafe.Pointer(p))
}

// The numbers of a cache with guarded objects are those of one without.
func TestGuardStats(t *testing.T) {
	testGuardStats[[3]int64](t)
	testGuardStats[struct{ p *int }](t)
}

func testGuardStats[T any](t *testing.T) {
	var stats [2][]slab.Stats
	for on := range 2 {
		if on == 1 {
			testkit.Guard(t, 1, 255)
		}
		c := slab.NewCache(slab.Config[T]{Capacity: 100})
		var held []*T
		note := func() {
			s := c.Stats()
			if s.InUse != len(held) {
				t.Fatalf("%d objects active, %d in use", s.InUse, len(held))
			}
			stats[on] = append(stats[on], s)
		}
		special := 0
		rng := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			switch k := rng.IntN(5); {
			case k < 2 && len(held) < 100:
				held = append(held, c.Alloc())
				if isGuarded(held[len(held)-1]) {
					special++
				}
			case k == 2 && len(held) > 0:
				i := rng.IntN(len(held))
				c.Free(held[i])
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
			case k == 3 && len(held) <= 95:
				b := make([]*T, 5)
				if err := c.AllocBatch(b); err != nil {
					t.Fatal(err)
				}
				held = append(held, b...)
			case k == 4 && len(held) >= 5:
				c.FreeBatch(held[:5])
				held = append([]*T(nil), held[5:]...)
			}
			note()
		}
		c.FreeBatch(held)
		held = nil
		note()
		c.Trim()
		if s := c.Stats(); s.Objects != 0 || s.Slabs != 0 {
			t.Fatalf("slabs stay: %v", s)
		}
		if _, pointers := any(*new(T)).(struct{ p *int }); (special > 100) != (on == 1) && !pointers {
			t.Errorf("guard %d: %d objects are guarded", on, special)
		}
	}
	for i, s := range stats[0] {
		o := stats[1][i]
		// Which of the allocations find a magazine may differ, as P does.
		s.Hits, s.Misses, s.Cached, s.Depot, s.Magazines, s.SlabsInUse = s.Hits+s.Misses, 0, 0, 0, 0, 0
		o.Hits, o.Misses, o.Cached, o.Depot, o.Magazines, o.SlabsInUse = o.Hits+o.Misses, 0, 0, 0, 0, 0
		s.Slabs, s.Objects, s.Bytes, o.Slabs, o.Objects, o.Bytes = 0, 0, 0, 0, 0, 0
		if s != o {
			t.Fatalf("step %d: %v without, %v with the guard", i, s, o)
		}
	}
}

// Caches with Init or Clear are left out, and objects that are too large.
func TestGuardLeavesOut(t *testing.T) {
	testkit.Guard(t, 1, 255)
	if isGuarded(slab.NewCache(slab.Config[[3]int]{Init: func(*[3]int) {}}).Alloc()) ||
		isGuarded(slab.NewCache(slab.Config[[3]int]{Reset: func(*[3]int) {}}).Alloc()) ||
		isGuarded(slab.NewCache(slab.Config[[1<<16 + 1]byte]{Capacity: 9}).Alloc()) ||
		isGuarded(slab.NewCache(slab.Config[struct{}]{Capacity: 9}).Alloc()) {
		t.Error("guarded")
	}
	c := slab.NewCache[[1 << 16]byte]()
	if p := c.Alloc(); !isGuarded(p) {
		t.Error("not guarded")
	} else {
		c.Free(p)
	}
}

// A cache that was in use before the guard is on is taken in at a collection.
func TestGuardLate(t *testing.T) {
	var c slab.Cache[[2]int]
	c.Free(c.Alloc())
	testkit.Guard(t, 1, 255)
	testkit.Eventually(t, "an object is guarded", func() bool {
		p := c.Alloc()
		defer c.Free(p)
		return isGuarded(p)
	})
	guard.Set(0, 0)
	if p := c.Alloc(); isGuarded(p) {
		t.Error("guarded when it is off")
	}
}

// At a rate, about so many of the objects are guarded as the clock allows, and the fast
// path is back in between.
func TestGuardRate(t *testing.T) {
	testkit.Guard(t, 1000, 255)
	c := slab.NewCache[[2]int]()
	testkit.Until(t, "objects are guarded", func() bool {
		for range 10_000 {
			p := c.Alloc()
			special := isGuarded(p)
			c.Free(p)
			if special {
				return true
			}
		}
		return false
	})
	n := 0
	for range 1_000_000 {
		p := c.Alloc()
		if isGuarded(p) {
			n++
		}
		c.Free(p)
	}
	if n > 1000 {
		t.Errorf("%d of 1,000,000 objects are guarded", n)
	}
}

// Free of a guarded object twice, and to another cache, is found at once.
func TestGuardMisuse(t *testing.T) {
	testkit.Guard(t, 1, 255)
	c, d := slab.NewCache(slab.Config[[]int]{Name: "orders"}), slab.NewCache(slab.Config[[]int]{Name: "trades"})
	p, q, r := c.Alloc(), c.Alloc(), d.Alloc()
	c.Free(p)
	for want, f := range map[string]func(){
		"second free":               func() { c.Free(p) },
		"free of a foreign pointer": func() { d.Free(q) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `cache "orders"`) {
					t.Errorf("%v, want %s", err, want)
				}
			}()
			f()
		}()
	}
	c.Free(q)
	d.Free(r)
	if n := c.Stats().InUse + d.Stats().InUse; n != 0 {
		t.Errorf("%d objects active", n)
	}
}

// Goroutines allocate here and free there, with the guard going on and off.
func TestGuardConcurrent(t *testing.T) {
	type node struct {
		next *node
		n    [2]int
	}
	testkit.Guard(t, 1, 32)
	c, d := slab.NewCache[node](), slab.NewCache[[5]int]()
	n := 20_000
	if testing.Short() {
		n = 3000
	}
	type pair struct {
		p *node
		q *[5]int
		n int
	}
	way := make(chan pair, 20)
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for i := range n {
				x := pair{c.Alloc(), d.Alloc(), i}
				if *x.p != (node{}) || *x.q != ([5]int{}) {
					t.Error("not zero")
				}
				x.p.next, x.p.n[1], x.q[4] = &node{}, i, i
				way <- x
				if i%1000 == 0 && g == 0 {
					guard.Set(i/1000%3, 32)
					runtime.GC()
				}
			}
		}()
		go func() {
			defer wg.Done()
			for range n {
				x := <-way
				if x.p.next == nil || x.p.n != [2]int{0, x.n} || x.q[4] != x.n || x.q[0] != 0 {
					t.Error("another's value")
				}
				c.Free(x.p)
				d.Free(x.q)
			}
		}()
	}
	wg.Wait()
	if n := c.Stats().InUse + d.Stats().InUse; n != 0 {
		t.Errorf("%d objects active", n)
	}
}

// Fast paths are back when no guarded object is in use.
func TestGuardHooks(t *testing.T) {
	testkit.Guard(t, 1, 255)
	c := slab.NewCache[[2]int]()
	p, q := c.Alloc(), c.Alloc()
	guard.Set(0, 0)
	c.Free(p)
	if slab.Hooks(c) == 0 {
		t.Error("no hook although an object that is guarded is in use")
	}
	c.Free(q)
	if n := slab.Hooks(c); n != 0 {
		t.Errorf("hooks %#b stay", n)
	}
}
