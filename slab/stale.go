package slab

import "github.com/haven-mem/haven/internal/stale"

// Stale pointers, to objects whose slab was given back. Such a slab is left to
// the garbage collector anyway, so to have it look whether something still points
// to one in 1024 costs only the looking: see package internal/stale. A table
// never gives a chunk back.

// giveBackSlabs gives up to n empty slabs to the garbage collector and returns how
// many there were. The lock is held.
func (c *core) giveBackSlabs(n int) int {
	var r *stale.Release
	n = c.slabs.release(n, func(s *slab) {
		if c.watched.Due(false) == 0 {
			return
		}
		if r == nil {
			r = stale.Begin("cache", c.name, nil)
		}
		// Objects that stay built may refer to those of other slabs.
		if c.stay() {
			for i := range c.slabs.n {
				c.wipe(c.slabs.at(s, i))
			}
		}
		// SAFETY: it is for a weak pointer (GC.md fact 21).
		r.Add(c.typ.String(), (*byte)(s.mem), c.slabs.bytes())
	})
	r.Watch()
	return n
}
