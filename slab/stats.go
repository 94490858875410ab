package slab

import (
	"fmt"
	"iter"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/stale"
)

// Stats describes a cache, in the columns of Linux' slabinfo and a few more.
// While the cache is at rest the numbers add up:
//
//	InUse   = Hits + Misses - Frees
//	Objects = InUse + Cached + Depot + objects free in their slabs
//	Objects = Slabs × PerSlab
//	Bytes   = Slabs × bytes of a slab
//
// While other goroutines are at work in it, each number is right for some moment
// of the call.
type Stats struct {
	Name       string
	InUse      int    // objects in use, those of reservations included
	Objects    int    // objects in all slabs
	ObjectSize int    // bytes
	PerSlab    int    // objects in a slab
	SlabsInUse int    // slabs that have objects in use, or in a magazine
	Slabs      int    // all
	Magazines  int    // of the Ps and in the depot
	Cached     int    // free objects in the magazines of the Ps
	Depot      int    // free objects in the full magazines of the depot
	Hits       uint64 // allocations from a magazine of the P
	Misses     uint64 // allocations that asked the depot
	Frees      uint64
	Bytes      int    // of all slabs
	Capacity   int    // objects; 0: none
	Stale      uint64 // found in slabs that caches of this name gave back: see StalePointers of package check
}

// String returns the numbers in one line.
func (s Stats) String() string {
	return fmt.Sprintf("%s: %d of %s of %s active, %d of %s of %s, %d cached and %d in the depot in %s, %s, %s, %s, %s",
		account.Title("cache", s.Name), s.InUse, account.Count(s.Objects, "object"), account.Count(s.ObjectSize, "byte"),
		s.SlabsInUse, account.Count(s.Slabs, "slab"), account.Count(s.PerSlab, "object"),
		s.Cached, s.Depot, account.Count(s.Magazines, "magazine"), account.Count(s.Hits, "hit"), account.Count(s.Misses, "miss"),
		account.Count(s.Frees, "free"), account.Count(s.Bytes, "byte")) + stale.Also(s.Stale)
}

// caches is the list of caches with a name.
var caches registry.List[self]

// Caches returns the numbers of the caches that have a [Name] and are alive, in
// the order of their first use. The list keeps no cache alive.
func Caches() iter.Seq[Stats] {
	return func(yield func(Stats) bool) {
		for s := range caches.All() {
			if !yield(s.c.stats()) {
				return
			}
		}
	}
}

// String is that of a cache.
func (c *core) String() string { return c.stats().String() }

// stats is Stats.
func (c *core) stats() Stats {
	c.moving.Lock()
	defer c.moving.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{
		Name:       c.name,
		Objects:    len(c.slabs.all) * c.slabs.n,
		ObjectSize: int(c.size),
		PerSlab:    c.slabs.n,
		SlabsInUse: len(c.slabs.all) - c.slabs.nempty,
		Slabs:      len(c.slabs.all),
		Magazines:  len(c.depot.full) + c.depot.nempty,
		Depot:      c.depot.objects,
		Hits:       c.allocs,
		Misses:     c.misses,
		Frees:      c.frees - c.bad,
		Bytes:      len(c.slabs.all) * c.slabs.bytes(),
		Capacity:   int(c.cap),
		Stale:      stale.Count("cache", c.name),
	}
	c.set.Walk(func(m *magazine.Magazine) {
		n, pops, pushes := m.Peek()
		s.Magazines++
		s.Cached += n
		s.Hits += uint64(pops)
		s.Frees += uint64(pushes)
	})
	n := c.watch.Waiting() // what waits is free
	s.Cached += n
	s.Frees += uint64(n)
	s.InUse = int(s.Hits + s.Misses - s.Frees)
	return s
}

// opsNow returns the number of allocations and frees up to now.
func (c *core) opsNow() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	pops, pushes := c.set.Ops()
	return c.allocs + c.misses + c.frees + pops + pushes
}
