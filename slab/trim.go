package slab

import (
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
)

// How memory goes back to the garbage collector: empty slabs do, after each
// collection those that a whole cycle did not need, and half of them at a time;
// and all at once when somebody asks, or when the memory limit is near.
//
// Objects that lie in the magazines keep their slabs from being empty. Full
// magazines in the depot that a cycle did not need are emptied likewise (the
// working set of Bonwick's and Adams' depots). Those of the Ps are left alone
// while the cache is in use, since another P's cannot be touched; when it is
// not, the cells are retired, and a collection later their magazines are here.

// step is called after each garbage collection.
func (c *core) step(near bool) {
	bad := c.depositAll(c.set.Settle)
	ops := c.opsNow()
	idle := ops == c.lastOps
	c.lastOps = ops
	if near || idle || !c.set.Fits() {
		c.set.Retire()
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.enroll()
	if bad != "" {
		c.misuse = bad // the goroutine that collects is nobody's; the next one to come is told
	}
	if near {
		c.empty()
		return
	}
	for range (c.depot.low + 1) / 2 {
		m := c.depot.takeFull()
		c.drain(m)
		c.depot.addEmpty(m)
	}
	c.depot.low = len(c.depot.full)
	c.depot.room = min(depotRoom(c.limit*int(c.slabs.size)), len(c.depot.tags)/2)
	c.giveBackSlabs((c.slabs.lowEmpty + 1) / 2)
	c.slabs.lowEmpty = c.slabs.nempty
	c.checkInvariants()
}

// depositAll takes the magazines that f returns into the depot. It returns what is
// wrong with one of their objects.
func (c *core) depositAll(f func() []*magazine.Magazine) (bad string) {
	c.moving.Lock()
	defer c.moving.Unlock()
	for _, m := range f() {
		if b := c.deposit(m); b != "" {
			bad = b
		}
	}
	return bad
}

// empty drains the depot and releases all empty slabs. It returns the bytes of
// those. The lock is held.
func (c *core) empty() int {
	for m := c.depot.takeFull(); m != nil; m = c.depot.takeFull() {
		c.drain(m)
	}
	c.depot.empty, c.depot.nempty = nil, 0
	c.depot.low = 0
	n := c.giveBackSlabs(c.slabs.nempty)
	c.slabs.lowEmpty = 0
	c.checkInvariants()
	return n * c.slabs.bytes()
}

// shrink is Trim.
func (c *core) trim() int {
	if check.Enabled {
		c.watch.Leave(true, c.owner())
	}
	c.set.Retire()
	bad := c.depositAll(c.set.Reclaim)
	c.mu.Lock()
	n := c.empty()
	if bad == "" {
		bad, c.misuse = c.misuse, ""
	}
	c.mu.Unlock()
	if bad != "" {
		panic(bad)
	}
	return n
}
