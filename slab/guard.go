package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/track"
)

// The sampled guard: package internal/guard.
//
// Alloc takes an object as always, and hands out another in its place, which is
// guarded. Free gives the first one back. So the numbers of a cache are what they are
// without, and nothing that is guarded comes into a magazine or a slab.
//
// Fast paths do not count, and have no part in the choice. A cache is asked at each
// tick of the guard's clock how many objects it handed out, and hooks Alloc for those
// that are drawn of so many; and Free as long as one of them is in use.
//
// Caches with Init or Reset are left out: an object that stays built may be known
// elsewhere by its address, or point to itself.

// guarding is what a core knows of it.
type guarding struct {
	enrolled bool
	want     int    // objects to be guarded
	out      int    // guarded and in use
	asked    uint64 // allocations and frees at the last tick
}

// enrolled is the list of caches that are asked.
var enrolled registry.List[self]

func init() {
	guard.Watch(func() {
		for s := range enrolled.All() {
			s.c.draw()
		}
	}, func() {
		for s := range enrolled.All() {
			s.c.mu.Lock()
			s.c.hookAlloc()
			s.c.mu.Unlock()
		}
	})
}

// enroll puts the cache on the list while the guard is on. It is called when the cache
// is opened, and after each garbage collection, for those that were open before the
// guard was on. The lock is held.
func (c *core) enroll() {
	if c.guarding.enrolled || !guard.On() || c.init != nil || c.clear != nil || !guard.Fits(c.size) {
		return
	}
	c.guarding.enrolled = true
	enrolled.Add(c.self)
	c.hookAlloc()
}

// draw is called at each tick.
func (c *core) draw() {
	ops := c.opsNow()
	n := guard.Draw((ops - c.asked) / 2)
	c.asked = ops
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.want = n
		c.hookAlloc()
	}
}

// hookAlloc sets whether Alloc has something to guard. The lock is held.
func (c *core) hookAlloc() {
	if c.want > 0 || guard.Each() {
		c.hooks.Or(hookAlloc)
	} else {
		c.hooks.And(^uint32(hookAlloc))
	}
}

// guard returns what to hand out in place of p, which is zero: an object that is
// guarded, or p, if none is to be or there is no slot.
func (c *core) guard(p unsafe.Pointer) unsafe.Pointer {
	c.mu.Lock()
	ok := c.guarding.enrolled && (c.want > 0 || guard.Each())
	c.want = max(0, c.want-1)
	c.hookAlloc()
	if ok {
		c.out++
		c.hooks.Or(hookFree)
	}
	c.mu.Unlock()
	if !ok {
		return p
	}
	q := guard.Place(guard.Object{
		Type: c.typ, Pointers: c.pointers, Title: c.title(),
		Owner: c.number(), StandIn: p,
		New: func() unsafe.Pointer { return c.make(1) },
	})
	if q == nil {
		c.returned()
		return p
	}
	return q
}

// number is what the guard knows the cache by.
func (c *core) number() uintptr { return uintptr(unsafe.Pointer(c)) }

// returned counts one that is guarded less.
func (c *core) returned() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out--; c.out == 0 {
		c.hooks.And(^uint32(hookFree))
	}
}

// unguard ends the guard over p, if there is one, and returns what is to be freed in
// its place: p if there was none. It panics for a second Free of p.
func (c *core) unguard(p unsafe.Pointer) unsafe.Pointer {
	if !guard.Perhaps(p) {
		return p
	}
	q, bad := guard.Release(p, c.number(), c.wipe)
	if bad != nil {
		panic(bad)
	}
	if q == nil {
		return p
	}
	c.returned()
	return q
}

// plain reports whether the fast path may free p although there are hooks: the cache
// has no options, and p is not guarded.
//
//go:noinline
func (c *core) plain(p unsafe.Pointer) bool {
	return p != nil && c.hooks.Load()&hookOptions == 0 && c.opened.Load() && c.size <= wide && !track.Watched && !guard.Perhaps(p)
}
