package pool_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// An item is large enough to be watched.
type item struct {
	next *item
	n    [6]int
}

// stalePointers returns how many stale pointers there are of releases after serial.
func stalePointers(serial uint64) int {
	list, _ := stale.Since(serial)
	return len(list)
}

// sampleEvery sets the rate for a test.
func sampleEvery(t *testing.T, n uint32) {
	stale.SampleEvery(n)
	t.Cleanup(func() { stale.SampleEvery(0) })
}

// After a collection that finds enough Puts, one object is marked, by a Get, and
// watched when it is put. All others are kept.
func TestWatchOneOfMany(t *testing.T) {
	testkit.NeedsReuse(t)
	sampleEvery(t, 100)
	p := pool.New(nil, pool.Config[item]{Name: "one of many"})
	serial := stale.Now()
	watched := func() uint64 { return stale.Now() - serial }
	turn := func(n int) {
		for range n {
			p.Put(p.Get())
		}
	}
	turn(1000)
	if n := watched(); n != 0 {
		t.Fatalf("%d objects are watched before a collection", n)
	}
	for i := range uint64(5) {
		turn(200)
		before := watched()
		testkit.Eventually(t, "an object is watched", func() bool { turn(200); return watched() > before })
		turn(1000)
		if n := watched(); n > before+2 { // a collection of another's may come between
			t.Fatalf("round %d: %d objects are watched", i, n-before)
		}
	}
	if s := p.Stats(); s.DroppedWatched != watched() || s.Puts != s.Hits+uint64(s.Idle)+s.Trimmed+s.Dropped() || s.InUse != 0 {
		t.Errorf("%d watched: %v", watched(), s)
	}
	if n := stalePointers(serial); n != 0 {
		t.Errorf("%d stale pointers", n)
	}
}

// Without Puts, or where none is to be watched, nothing is marked.
func TestWatchNothing(t *testing.T) {
	p := pool.New[item](nil)
	b := pool.NewBytes()
	serial := stale.Now()
	for range 5 {
		for range 1000 {
			p.Put(p.Get())
			b.Put(b.Get(100))
		}
		testkit.CollectGarbage()
	}
	testkit.CollectGarbage() // has seen to all Puts
	sampleEvery(t, 10)
	for range 5 {
		testkit.CollectGarbage()
	}
	p.Put(p.Get())
	b.Put(b.Get(100))
	if n := stale.Now() - serial; n != 0 {
		t.Errorf("%d objects are watched", n)
	}
}

// Only what the pool made is watched: not what is part of something else, or a
// global variable, or too small.
func TestWatchOwnOnly(t *testing.T) {
	end := stale.All()
	defer end()
	serial := stale.Now()

	p := pool.New[item](nil)
	for i := range batch {
		p.Put(&batch[i])
	}
	more := make([]item, 100)
	for i := range more {
		p.Put(&more[i])
	}
	small := pool.New[[15]byte](nil)
	globals := pool.New(func() *item { return &single })
	for range 10 {
		small.Put(small.Get())
		globals.Put(globals.Get())
	}
	b := pool.NewBytes()
	array := make([]byte, 1<<20)
	for i := range 100 {
		s := array[i<<10 : (i+1)<<10 : (i+1)<<10]
		b.Put(&s)
		p := b.Get(1000)
		*p = make([]byte, 1024) // another array than the pool gave
		b.Put(p)
	}
	if n := stale.Now() - serial; n != 0 || small.Stats().DroppedWatched > 0 {
		t.Errorf("%d objects are watched, of the small %v", n, small.Stats())
	}
	runtime.KeepAlive(more)
}

var (
	batch  [100]item
	single item
)

// A mark is given up when the object stays away, and may have been dropped.
func TestMarksAreGivenUp(t *testing.T) {
	sampleEvery(t, 1000)
	p := pool.New[item](nil)
	testkit.Eventually(t, "the pool is hooked", func() bool {
		if pool.Hooked(p) {
			return true
		}
		for range 2000 {
			p.Put(p.Get())
		}
		return false
	})
	x := p.Get() // is marked
	testkit.Eventually(t, "the mark is given up", func() bool { return !pool.Hooked(p) })
	before := stale.Now()
	p.Put(x)
	if stale.Now() != before {
		t.Error("watched after all")
	}
}

// Pools that are there already, named or not, used or not, are watched while all
// are, and not afterwards.
func TestWatchAll(t *testing.T) {
	var unused, used pool.Pool[item]
	var unusedBytes, usedBytes pool.Bytes
	for range 300 {
		used.Put(used.Get())
		usedBytes.Put(usedBytes.Get(1000))
	}
	end := stale.All()
	fresh := pool.New[item](nil)
	serial := stale.Now()
	const n = 100
	for range n {
		for _, p := range []*pool.Pool[item]{&unused, &used, fresh} {
			p.Put(p.Get())
		}
		for _, b := range []*pool.Bytes{&unusedBytes, &usedBytes} {
			b.Put(b.Get(500))
		}
	}
	if got := stale.Now() - serial; got != 5*n {
		t.Errorf("%d of %d Puts are watched", got, 5*n)
	}
	end()
	for _, s := range []pool.Stats{unused.Stats(), used.Stats(), fresh.Stats(), unusedBytes.Stats(), usedBytes.Stats()} {
		if s.DroppedWatched != n || s.InUse != 0 || s.Puts != s.Hits+uint64(s.Idle)+s.Trimmed+s.Dropped() {
			t.Errorf("%v", s)
		}
	}
	if s := fresh.Stats(); s.HighWater != 1 {
		t.Errorf("one object was in use at a time: %v", s)
	}
	serial = stale.Now()
	for range n {
		used.Put(used.Get())
		usedBytes.Put(usedBytes.Get(500))
	}
	if stale.Now() != serial || pool.Hooked(&used) {
		t.Error("watched after the end")
	}
}

// Goroutines get and put while pools are hooked and not, and collections come.
func TestWatchConcurrent(t *testing.T) {
	sampleEvery(t, 10)
	serial := stale.Now()
	var p pool.Pool[item]
	var b pool.Bytes
	costed := pool.New(nil, pool.Config[item]{Cost: func(*item) int { return 10 }})
	stop := testkit.Hammer()
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 3000 {
				if g == 0 && i%1000 == 500 {
					end := stale.All()
					defer end()
				}
				x, y, z := p.Get(), b.Get(10*g), costed.Get()
				x.n[0]++
				z.next = x
				z.next = nil
				p.Put(x)
				b.Put(y)
				costed.Put(z)
			}
		}()
	}
	wg.Wait()
	stop()
	for _, s := range []pool.Stats{p.Stats(), b.Stats(), costed.Stats()} {
		if s.InUse != 0 || s.Puts != s.Hits+uint64(s.Idle)+s.Trimmed+s.Dropped() || s.DroppedWatched == 0 {
			t.Errorf("%v", s)
		}
	}
	if list, _ := stale.Since(serial); len(list) != 0 {
		t.Error(stale.List(list))
	}
}
