package slab

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/escape"
)

// Escapes: pointers to objects whose slab was given back. Such a slab is left to
// the garbage collector anyway, so to have it look whether something still points
// to one in 1024 costs only the looking: see package internal/escape. A table
// never gives a chunk back.

// giveBackSlabs gives up to n empty slabs to the garbage collector and returns how
// many there were. The lock is held.
func (c *core) giveBackSlabs(n int) int {
	var r *escape.Release
	n = c.slabs.release(n, func(s *slab) {
		if !c.watched.Due() {
			return
		}
		if r == nil {
			r = escape.Begin("cache", c.name, nil)
		}
		// Objects that stay built may refer to those of other slabs.
		if c.ops.build != nil {
			for i := range c.slabs.n {
				c.ops.zero(c.slabs.at(s, i))
			}
		}
		// SAFETY: it is for a weak pointer (GC.md fact 21).
		r.Add(c.ops.typ, (*byte)(s.mem), c.slabs.bytes())
	})
	r.Watch()
	return n
}

// watchSlab adds a slab that a Local gives back, whose objects are zero, to r,
// which it makes if there is none yet.
func watchSlab[T any](r *escape.Release, objs []T) *escape.Release {
	if r == nil {
		r = escape.Begin("local", "", nil)
	}
	r.Add(reflect.TypeFor[T]().String(), addr.First(objs), len(objs)*int(unsafe.Sizeof(*new(T))))
	return r
}
