package concurrent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A marked is an object that says who has it.
type marked struct {
	owner atomic.Int32
	next  *marked // so that the garbage collector has to look into it
	_     [5]uintptr
}

// What an owner may be beside a worker, which has a number from 1.
const (
	nobody  = 0
	transit = -1 // on its way from one worker to another
)

// own has the object change hands, and fails if it is not where it should be.
func (m *marked) own(from, to int32) error {
	if !m.owner.CompareAndSwap(from, to) {
		return fmt.Errorf("object %p should change hands from %d to %d, and belongs to %d", m, from, to, m.owner.Load())
	}
	return nil
}

// A relay passes objects from worker to worker: each takes some at a time from
// the source, leaves them in slots, and gives those back that it found there.
type relay struct {
	alloc func() *marked // nil if there are no more for now
	free  func(*marked)
	each  func() // called every millisecond, if it is not nil
	slots [1000]atomic.Pointer[marked]
	taken atomic.Int64
	procs procs
	err   atomic.Pointer[error]
}

const workers = 10

func (r *relay) fail(err error) { r.err.CompareAndSwap(nil, &err) }

// run has the workers take as many objects as passed says, or more until
// GOMAXPROCS was changed often enough.
func (r *relay) run() error {
	r.procs.start()
	defer r.procs.stop()
	if r.each != nil {
		defer every(time.Millisecond, r.each)()
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := r.work(int32(i+1), rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
				r.fail(err)
			}
		}()
	}
	wg.Wait()
	for i := range r.slots {
		if m := r.slots[i].Swap(nil); m != nil {
			if err := m.own(transit, nobody); err != nil {
				r.fail(err)
			}
			r.free(m)
		}
	}
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (r *relay) work(me int32, rng *rand.Rand) error {
	var have, found []*marked
	for r.err.Load() == nil && (r.taken.Load() < passed() || r.procs.changes.Load() < minChanges) {
		// Up to 200, since a P exchanges magazines only when it does more of one
		// kind in a row than fits into two of them.
		for range 1 + rng.IntN(200) {
			m := r.alloc()
			if m == nil {
				// All may be in the slots, so somebody has to take one out.
				found = append(found, r.slots[rng.IntN(len(r.slots))].Swap(nil))
				runtime.Gosched()
				break
			}
			if err := m.own(nobody, me); err != nil {
				return err
			}
			if m.next != nil {
				return fmt.Errorf("object %p was written to while nobody had it", m)
			}
			m.next = m
			have = append(have, m)
		}
		r.taken.Add(int64(len(have)))
		for _, m := range have {
			if err := m.own(me, transit); err != nil {
				return err
			}
			found = append(found, r.slots[rng.IntN(len(r.slots))].Swap(m))
		}
		for _, m := range found {
			if m == nil {
				continue
			}
			if err := m.own(transit, me); err != nil {
				return err
			}
			if m.next != m {
				return fmt.Errorf("object %p was written to on its way to worker %d", m, me)
			}
			m.next = nil
			if err := m.own(me, nobody); err != nil {
				return err
			}
			r.free(m)
		}
		have, found = have[:0], found[:0]
	}
	return nil
}

// procs sets GOMAXPROCS to another value every 10 ms.
type procs struct {
	changes atomic.Int64
	stop    func() // sets it to what it was in the beginning
}

func (p *procs) start() {
	before := runtime.GOMAXPROCS(workers)
	values := []int{1, workers, 3, 16, 2, workers, 5, workers}
	end := every(10*time.Millisecond, func() {
		runtime.GOMAXPROCS(values[p.changes.Add(1)%int64(len(values))])
	})
	p.stop = func() {
		end()
		runtime.GOMAXPROCS(before)
	}
}

// every calls f again and again until stop is called.
func every(d time.Duration, f func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				f()
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// minChanges is how often GOMAXPROCS is changed at least.
const minChanges = 40

// passed is how many objects are passed on at least.
func passed() int64 {
	if testing.Short() {
		return 200_000
	}
	return 2_000_000 / slowdown
}

// relayAll runs r and returns how many objects it took.
func relayAll(t *testing.T, r *relay) uint64 {
	t.Helper()
	err := r.run()
	t.Logf("%d objects, GOMAXPROCS was changed %d times", r.taken.Load(), r.procs.changes.Load())
	if err != nil {
		t.Fatal(err)
	}
	return uint64(r.taken.Load())
}

// TestExactlyOnce checks that an object has one owner at a time, and that none
// is lost, while Ps come and go.
func TestExactlyOnce(t *testing.T) {
	t.Run("Cache", func(t *testing.T) {
		c := slab.NewCache[marked]()
		n := relayAll(t, &relay{alloc: c.Alloc, free: c.Free})
		checkEmpty(t, c, n)
	})
	t.Run("Cache that shrinks", func(t *testing.T) {
		c := slab.NewCache[marked]()
		n := relayAll(t, &relay{alloc: c.Alloc, free: c.Free, each: func() { c.Trim() }})
		checkEmpty(t, c, n)
	})
	t.Run("Cache with Capacity", func(t *testing.T) {
		// The slots hold as many, so workers are refused all the time.
		const capacity = 1000
		c := slab.NewCache(slab.Config[marked]{Capacity: capacity})
		tryAlloc := func() *marked {
			m, err := c.TryAlloc()
			if err != nil && !errors.Is(err, slab.ErrExhausted) {
				t.Error(err)
			}
			return m
		}
		n := relayAll(t, &relay{alloc: tryAlloc, free: c.Free})
		// All of the capacity is there, and no object of it twice.
		all := map[*marked]bool{}
		for range capacity {
			if m := tryAlloc(); m == nil || all[m] || m.own(nobody, 1) != nil {
				t.Fatalf("after %d of %d objects came %p", len(all), capacity, m)
			} else {
				all[m] = true
			}
		}
		if m := tryAlloc(); m != nil {
			t.Fatalf("there is one more object than the capacity of %d", capacity)
		}
		for m := range all {
			c.Free(m)
		}
		checkEmpty(t, c, n+capacity)
	})
	t.Run("Pool", func(t *testing.T) {
		var made atomic.Uint64
		p := pool.New(func() *marked { made.Add(1); return new(marked) })
		n := relayAll(t, &relay{alloc: p.Get, free: p.Put})
		checkPool(t, p, n, made.Load())
	})
	t.Run("Pool that shrinks, with bounds", func(t *testing.T) {
		var made atomic.Uint64
		p := pool.New(func() *marked { made.Add(1); return new(marked) },
			pool.Config[marked]{Max: 500, Floor: 20, Reset: func(m *marked) { m.next = nil }})
		n := relayAll(t, &relay{alloc: p.Get, free: p.Put, each: func() { p.Trim() }})
		checkPool(t, p, n, made.Load())
	})
}

// checkEmpty checks the counters of a cache in which nothing is in use after
// n allocations, and that each object finds back to its slab.
func checkEmpty[T any](t *testing.T, c *slab.Cache[T], n uint64) {
	t.Helper()
	s := c.Stats()
	if s.InUse != 0 || s.Hits+s.Misses != n || s.Frees != n {
		t.Errorf("after %d allocations and frees: %v", n, s)
	}
	c.Trim()
	if s := c.Stats(); s.Objects != 0 || s.Cached != 0 || s.Depot != 0 || s.Bytes != 0 {
		t.Errorf("Trim leaves something of a cache in which nothing is in use: %v", s)
	}
}

// checkPool checks the counters of a pool in which nothing is in use after n
// Gets, and that each object it made lies idle or was let go.
func checkPool[T any](t *testing.T, p *pool.Pool[T], n, made uint64) {
	t.Helper()
	s := p.Stats()
	if s.InUse != 0 || s.Hits+s.Misses != n || s.Puts != n || s.Misses != made {
		t.Errorf("after %d Gets and Puts, for which %d objects were made: %v", n, made, s)
	}
	// In the check build what waits counts for no bound.
	if s.DroppedTwice != 0 || !check.Enabled && s.Max > 0 && s.Idle > s.Max {
		t.Errorf("after right use within the bounds: %v", s)
	}
	for range 2 {
		if gone := s.Trimmed + s.Dropped(); made != gone+uint64(s.Idle) {
			t.Errorf("of %d objects that were made, %d lie idle and %d were let go: %v", made, s.Idle, gone, s)
		}
		p.Trim()
		s = p.Stats()
	}
	if s.Idle > s.Floor {
		t.Errorf("Trim leaves more than %d objects: %v", s.Floor, s)
	}
}
