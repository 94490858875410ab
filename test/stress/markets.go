package stress

import (
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A market is what the workers of a program share for one shape.
type market[T any] struct {
	cache *slab.Cache[T]
	pool  *pool.Pool[T]
	mail  chan chain[T]
}

func newMarket[T any](rng *choices) *market[T] {
	var conf slab.Config[T]
	switch rng.below(4) {
	case 0:
		conf.Capacity = 1000 + rng.below(5000)
	case 1:
		conf.Reset = func(p *T) { *p = *new(T) }
	}
	shared := pool.Config[T]{Reset: func(p *T) { *p = *new(T) }}
	switch rng.below(4) {
	case 0:
		shared.Max = rng.below(2000)
	case 1:
		shared.MaxBytes = rng.below(1 << 20)
	}
	return &market[T]{
		cache: slab.NewCache[T](conf),
		pool:  pool.New[T](nil, shared),
		mail:  make(chan chain[T], 64),
	}
}

// atRest checks the counts when everything has been given back.
func (m *market[T]) atRest() {
	if st := m.cache.Stats(); st.InUse != 0 || st.Hits+st.Misses != st.Frees {
		fail("all was freed, but the cache has %v", st)
	}
	m.cache.Trim()
	if st := m.cache.Stats(); st.Objects != 0 || st.Bytes != 0 {
		fail("all was freed, but after Trim the cache has %v", st)
	}
	poolAtRest(m.pool.Stats())
}

func poolAtRest(st pool.Stats) {
	if st.InUse != 0 || st.Hits+st.Misses != st.Puts || st.Misses != uint64(st.Idle)+st.Trimmed+st.Dropped() || st.DroppedTwice != 0 {
		fail("all was put, but the pool has %v", st)
	}
}
