package workload

import (
	"runtime"
	"sync"

	"github.com/haven-mem/haven/slab"
)

// Workload slabpair takes one object and gives it back at once, over and over:
// the cost of a pair of calls, which finds every cache as warm as it gets. An
// object is 64 bytes with pointers; two fields are written and read. (A third, a
// pointer that is stored, read back and followed, brings the cache and sync.Pool
// closer together, for reasons inside the processor: from 1.35 times to 1.1.)
//
// In the second case as many goroutines as there are Ps do this at the same
// time, each with objects of its own. The time is the wall time divided by all
// pairs of all goroutines, so a variant that scales takes as many times less
// than in the first case as there are Ps.
//
// Objects come zeroed from all variants but sync.Pool+dirty: like package slab,
// the sync.Pool and the free lists clear the object that they take back. In
// sync.Pool+dirty it is the user of the object who sets those fields that the
// next one relies on.

func init() {
	Register(Workload{
		Name:  "slabpair",
		Doc:   "one object or buffer taken and given back at once",
		Unit:  "pair",
		Cases: slabpairCases,
	})
}

const (
	pairCount = 2_000_000 // in a round, of each goroutine
	pairQuick = 400_000
	pairRoom  = 1024 // of the free lists of fixed size
)

// pairObject takes 64 bytes on machines of 64 bits.
type pairObject struct {
	next   *pairObject
	owner  *pairObject
	name   string
	id     int
	count  int
	values [2]int
}

// use is what is done with an object between the calls: little, since it is the
// calls that are measured. The object's count has to be zero.
func (p *pairObject) use(i int) uint64 {
	p.id = i
	p.count += i
	return uint64(p.count)
}

func slabpairCases(cfg Config) []Case {
	n := pairCount
	if cfg.Quick {
		n = pairQuick
	}
	names := []string{heapNew, syncPool, syncPoolDirty, mutexList, channelList, slabCache, slabLocal}
	cases := []Case{
		{
			Name: "goroutines=1",
			Doc:  "an object of 64 bytes taken and given back, by one goroutine",
			Variants: variantsOf(names, map[string][]Target{
				slabCache: {fasterThan(syncPool, 1.3)},
				slabLocal: {fasterThan(syncPool, 3), atMost(MetricTime, 3.5)},
			}, func(name string) (Instance, error) { return newPairs(name, 1, n), nil }),
		},
		{
			Name: "goroutines=all",
			Doc:  "the same by a goroutine on each P; the time is that of all, divided by the pairs of all",
			Variants: variantsOf(names, map[string][]Target{
				slabCache: {fasterThan(syncPool, 1.3), fasterThan(mutexList, 5)},
			}, func(name string) (Instance, error) { return newPairs(name, runtime.GOMAXPROCS(0), n), nil }),
		},
	}
	return append(cases, bufferCases(cfg)...)
}

// newPairs returns the instance of a variant with n pairs for each goroutine.
func newPairs(name string, goroutines, n int) Instance {
	seats := make([]seat[pairObject], goroutines)
	var loop func(w int) uint64
	switch name {
	case heapNew:
		loop = func(w int) uint64 { return pairNew(&seats[w], n) }
	case syncPool:
		pool := newSyncPool[pairObject]()
		loop = func(w int) uint64 { return pairSyncPool(pool, &seats[w], n) }
	case syncPoolDirty:
		pool := newSyncPool[pairObject]()
		loop = func(w int) uint64 { return pairSyncPoolDirty(pool, &seats[w], n) }
	case mutexList:
		list := newIndexList[pairObject](pairRoom)
		loop = func(w int) uint64 { return pairMutex(list, &seats[w], n) }
	case channelList:
		list := make(chan *pairObject, pairRoom)
		loop = func(w int) uint64 { return pairChannel(list, &seats[w], n) }
	case slabCache:
		cache := slab.NewCache[pairObject]()
		loop = func(w int) uint64 { return pairCache(cache, &seats[w], n) }
	case slabLocal:
		locals := make([]pairLocal, goroutines)
		loop = func(w int) uint64 { return pairLocalLoop(&locals[w].Local, &seats[w], n) }
	default:
		panic("workload: no variant " + name)
	}
	return &task{
		ops: int64(goroutines * n),
		run: func(*Round) uint64 { return together(goroutines, loop) },
	}
}

// A pairLocal is a Local that shares no cache line with its neighbour.
type pairLocal struct {
	slab.Local[pairObject]
	_ [128]byte
}

// The loops do the same around their calls; each also stores the object where
// it escapes, as programs do.

func pairNew(s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := new(pairObject)
		s.last = p
		sum += p.use(i)
	}
	return sum
}

func pairSyncPool(pool *sync.Pool, s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := pool.Get().(*pairObject)
		s.last = p
		sum += p.use(i)
		*p = pairObject{}
		pool.Put(p)
	}
	return sum
}

func pairSyncPoolDirty(pool *sync.Pool, s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := pool.Get().(*pairObject)
		p.count = 0
		s.last = p
		sum += p.use(i)
		pool.Put(p)
	}
	return sum
}

func pairMutex(list *indexList[pairObject], s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		k := list.take()
		p := list.at(k)
		s.last = p
		sum += p.use(i)
		list.give(k)
	}
	return sum
}

func pairChannel(list chan *pairObject, s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := fromChannel(list)
		s.last = p
		sum += p.use(i)
		*p = pairObject{}
		toChannel(list, p)
	}
	return sum
}

func pairCache(cache *slab.Cache[pairObject], s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := cache.Alloc()
		s.last = p
		sum += p.use(i)
		cache.Free(p)
	}
	return sum
}

func pairLocalLoop(local *slab.Local[pairObject], s *seat[pairObject], n int) (sum uint64) {
	for i := range n {
		p := local.Alloc()
		s.last = p
		sum += p.use(i)
		local.Free(p)
	}
	return sum
}
