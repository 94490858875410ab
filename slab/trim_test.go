package slab_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A block is large, so that a few thousand are worth measuring.
type block struct {
	next *block
	data [1000]byte
}

// Trim gives back all slabs without objects in use, wherever their objects
// rest, and the memory goes.
func TestShrink(t *testing.T) {
	testkit.NeedsReuse(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 8000
	c := slab.NewCache[block]()
	base := testkit.HeapInUse()
	all := make([]*block, n)
	for i := range all {
		all[i] = c.Alloc()
	}
	kept := all[n/2]
	var wg sync.WaitGroup
	for g := range 4 { // so that several Ps have some
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := g; i < n; i += 4 {
				if all[i] != kept {
					c.Free(all[i])
				}
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
	clear(all)
	s := atRest(t, c)
	if s.InUse != 1 {
		t.Fatalf("%+v", s)
	}
	got := c.Trim()
	after := atRest(t, c)
	if after.Slabs != 1 || after.Bytes != slab.SlabBytes(c) || after.SlabsInUse != 1 || got != s.Bytes-after.Bytes {
		t.Errorf("Trim gave %d bytes; before %+v, after %+v", got, s, after)
	}
	if heap := testkit.HeapInUse(); heap > base+1<<20 {
		t.Errorf("%d bytes of the heap stay for one object", heap-base)
	}
	kept.data[0] = 1
	if got := c.Trim(); got != 0 {
		t.Errorf("the second Trim gave %d bytes", got)
	}
	c.Free(kept)
	if got := c.Trim(); got != after.Bytes {
		t.Errorf("the last Trim gave %d bytes, want %d", got, after.Bytes)
	}
	p := c.Alloc()
	if !isZero(p) {
		t.Error("not zero")
	}
}

// A pointer that is used after its slab was given back still points to a T of
// its own.
func TestShrinkLeavesStalePointersAlone(t *testing.T) {
	testkit.NeedsReuse(t)
	c := slab.NewCache[linked]()
	p := c.Alloc()
	c.Free(p)
	c.Trim()
	for range 1000 {
		if q := c.Alloc(); q == p {
			t.Fatal("the object was handed out again, though its slab was given back")
		}
	}
	p.next = &linked{key: 3}
	testkit.CollectGarbage()
	if p.next.key != 3 {
		t.Error("what it refers to is gone")
	}
}

// After a burst, a cache that is idle gives all of its memory back, one that is
// in use what it does not need, and neither more than half at a time.
func TestStepsAfterBurst(t *testing.T) {
	testkit.NeedsReuse(t)
	const n = 4000
	for name, use := range map[string]func(c *slab.Cache[block]){
		"idle": func(*slab.Cache[block]) {},
		"busy": func(c *slab.Cache[block]) {
			for range 200 {
				c.Free(c.Alloc())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			quiet(t)
			onOneP(t)
			c := slab.NewCache[block]()
			all := make([]*block, n)
			c.AllocBatch(all)
			base := c.Stats().Slabs
			for i, p := range all {
				all[i] = nil
				c.Free(p)
			}
			s := atRest(t, c)
			if s.Slabs != base || s.SlabsInUse > base/2 {
				t.Fatalf("after the burst %+v", s)
			}
			want := 0
			if name == "busy" {
				want = 20 // those of the magazines
			}
			last := s.Slabs
			testkit.Eventually(t, "the memory is given back", func() bool {
				use(c)
				s := c.Stats()
				if s.Slabs > last {
					t.Errorf("%d slabs, after %d", s.Slabs, last)
				}
				last = s.Slabs
				return s.Slabs <= want
			})
			atRest(t, c)
			c.Free(c.Alloc())
		})
	}
}

// stepper returns a function that collects garbage and returns when the caches
// made before, and alive, have made their step after that.
func stepper(t *testing.T) (step func()) {
	quiet(t)
	type probe struct{ told chan int64 }
	collections := func() int64 {
		var s debug.GCStats
		debug.ReadGCStats(&s)
		return s.NumGC
	}
	p := &probe{make(chan int64, 100)}
	gccycle.Watch(p, func(p *probe, _ gccycle.Pressure) { p.told <- collections() }) // is called after them
	step = func() {
		for {
			runtime.GC()
			done := collections()
			select {
			case n := <-p.told:
				if n >= done { // or the call is for a collection of before
					runtime.KeepAlive(p)
					return
				}
			case <-time.After(time.Second): // the collection came too soon after the last call
			}
		}
	}
	step()
	return step
}

// A step gives back half of the slabs that were empty since the one before, and
// none that was needed. Of the depot it drains half of the magazines that were
// not needed.
func TestStepsTakeHalf(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	c := slab.NewCache[block]()
	all := make([]*block, 4000)
	burst := func() {
		c.AllocBatch(all)
		c.FreeBatch(all)
	}
	burst()
	step := stepper(t)
	for range 5 {
		burst()
		before := atRest(t, c)
		step()
		after := atRest(t, c)
		burst()
		if s := atRest(t, c); after.Depot != before.Depot || s.Slabs != after.Slabs {
			t.Errorf("%+v\nafter a step, %+v\nbefore it, and %+v\nin the next burst: what was needed was given back", after, before, s)
		}
	}
	step()
	for before := atRest(t, c); before.Slabs > 0 || before.Depot > 0; {
		idle := before.Slabs - before.SlabsInUse
		step()
		s := atRest(t, c)
		if before.Slabs-s.Slabs != (idle+1)/2 {
			t.Errorf("%d slabs were given back, want half of %d", before.Slabs-s.Slabs, idle)
		}
		if n := before.Depot / slab.Limit(c); before.Cached == s.Cached && n*slab.Limit(c) == before.Depot && before.Depot-s.Depot != (n+1)/2*slab.Limit(c) {
			t.Errorf("%d objects of %d magazines were drained, want those of half", before.Depot-s.Depot, n)
		}
		before = s
	}
}

// Objects come from the fullest slabs, so that sparse ones empty out when the
// working set gets smaller, as far as objects go through the slabs and not from
// one magazine to the next.
func TestSparseSlabsEmpty(t *testing.T) {
	testkit.NeedsReuse(t)
	quiet(t)
	const n, large, small = 12000, 3000, 500
	c := slab.NewCache[block]()
	held := make([]*block, n)
	c.AllocBatch(held)
	drop := func(to int) {
		rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		for _, p := range held[to:] {
			c.Free(p)
		}
		clear(held[to:])
		held = held[:to]
	}
	drop(large)
	before := atRest(t, c)
	if before.SlabsInUse < before.Slabs*9/10 {
		t.Fatalf("%+v: want most slabs in use", before)
	}
	for range 15 {
		drop(small) // so that more are freed than the depot takes
		for len(held) < large {
			held = append(held, c.Alloc())
		}
	}
	c.Trim()
	after := atRest(t, c)
	if full := large/after.PerSlab + 1; after.Slabs > full*3/2 {
		t.Errorf("%d objects in %d slabs, of which %d would do; before it was %d", large, after.Slabs, full, before.Slabs)
	}
	runtime.KeepAlive(held)
}

// While memory is short, all that is idle goes at once.
func TestStepsNearLimit(t *testing.T) {
	testkit.NeedsReuse(t)
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOMEMLIMIT=100MiB", "GOGC=off")
		return
	}
	runtime.GOMAXPROCS(1)
	c := slab.NewCache[block]()
	all := make([]*block, 20000) // 20 MB
	c.AllocBatch(all)
	c.FreeBatch(all)
	runtime.GC() // far from the limit: one step gives back half at most
	if s := atRest(t, c); s.Bytes < 5<<20 {
		t.Fatalf("too little memory to see anything: %+v", s)
	}
	c.AllocBatch(all)
	c.FreeBatch(all)
	ballast := make([]byte, 85<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	slabs := c.Stats().Slabs
	most := int(unsafe.Sizeof(block{}))*4*57/slab.SlabBytes(c) + 8 // what magazines of the P keep
	for range 2 {                                                  // a step of before may be under way
		testkit.CollectGarbage()
	}
	if s := atRest(t, c); s.Slabs > most {
		t.Errorf("%d of %d slabs are left near the limit, want at most %d", s.Slabs, slabs, most)
	}
	testkit.Eventually(t, "what is in the magazines goes, too", func() bool { return c.Stats().Slabs == 0 })
	runtime.KeepAlive(ballast)
}

// Collections that come as fast as they can do no harm, under the eyes of the
// runtime's own checks.
func TestStepsUnderEagerCollector(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOGC=1", "GODEBUG=clobberfree=1")
		return
	}
	c := slab.NewCache[linked]()
	debug.SetMemoryLimit(64 << 20)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var held []*linked
			for i := range 3000 {
				p := c.Alloc()
				p.key, p.next, p.text = g, &linked{key: i}, string(rune('a'+g))
				held = append(held, p)
				if len(held) == 300 {
					for j, p := range held {
						if p.key != g || p.next.key != i-299+j || p.text != string(rune('a'+g)) {
							t.Errorf("%+v", *p)
						}
						c.Free(p)
					}
					held = held[:0]
					runtime.Gosched()
				}
			}
		}()
	}
	wg.Wait()
	if s := atRest(t, c); s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}
