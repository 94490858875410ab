package concurrent_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// histories is how many are checked of each subject.
func histories() int {
	if testing.Short() {
		return 100
	}
	return 1000 / slowdown
}

// A cacheSubject is a slab.Cache.
type cacheSubject struct{ *slab.Cache[target] }

func (s cacheSubject) alloc() *target {
	p, err := s.TryAlloc()
	if err != nil && !errors.Is(err, slab.ErrExhausted) {
		panic(err)
	}
	return p
}

func (s cacheSubject) free(p *target) { s.Free(p) }

// disturb takes the magazines away from all Ps.
func (s cacheSubject) disturb(rng *rand.Rand) {
	if rng.IntN(4) == 0 {
		s.Trim()
	}
}

// An inlineSubject is a slab.Cache without a capacity, used by the methods that
// have the fast path.
type inlineSubject struct{ cacheSubject }

func (s inlineSubject) alloc() *target { return s.Alloc() }

// A poolSubject is a pool.Pool.
type poolSubject struct{ *pool.Pool[target] }

func (s poolSubject) alloc() *target { return s.Get() }
func (s poolSubject) free(p *target) { s.Put(p) }

func (s poolSubject) disturb(rng *rand.Rand) {
	if rng.IntN(4) == 0 {
		s.Trim()
	}
}

// yield is for callbacks: while one goroutine is in the middle of an operation,
// others get to do theirs, also where there are few processors.
func yield(*target) { runtime.Gosched() }

// TestLinearizable checks histories of caches and pools. The subject is made
// anew for every twentieth.
func TestLinearizable(t *testing.T) {
	cache := func(conf slab.Config[target]) func() subject {
		return func() subject { return cacheSubject{slab.NewCache[target](conf)} }
	}
	pools := func(conf pool.Config[target]) func() subject {
		return func() subject { return poolSubject{pool.New(nil, conf)} }
	}
	for _, c := range []struct {
		name     string
		capacity int
		warm     int
		make     func() subject
	}{
		{"Cache", 0, 130, func() subject { return inlineSubject{cacheSubject{slab.NewCache[target]()}} }},
		{"Cache with Init", 0, 10, cache(slab.Config[target]{Init: yield})},
		{"Cache with Capacity 1", 1, 0, cache(slab.Config[target]{Capacity: 1})},
		{"Cache with Capacity 3", 3, 0, cache(slab.Config[target]{Capacity: 3})},
		{"Cache with Capacity 3 and Reset", 3, 0, cache(slab.Config[target]{Capacity: 3, Reset: yield})},
		{"Pool", 0, 130, pools(pool.Config[target]{})},
		{"Pool with Max 2", 0, 5, pools(pool.Config[target]{Max: 2})},
		{"Pool with Floor and Reset", 0, 10, pools(pool.Config[target]{Floor: 4, Reset: yield})},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * clients))
			r := &recorder{capacity: c.capacity, warm: c.warm}
			total, overlaps := 0, 0
			for i := range histories() {
				if i%20 == 0 {
					r.subject = c.make()
				}
				events := r.record(uint64(i))
				total += len(events)
				overlaps += overlapping(events)
				if err := linearizable(events, c.capacity); err != nil {
					t.Fatalf("history %d: %v", i, err)
				}
			}
			t.Logf("%d histories, %d operations, %d of them overlapping", histories(), total, overlaps)
		})
	}
}
