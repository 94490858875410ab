package track

import (
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/guard"
)

// Guarded is the sampled guard over the objects of one owner: package internal/guard.
//
// The owner takes an object as always, and hands out another in its place, which is
// guarded. When that comes back, the first one is freed. So the numbers of the owner are
// what they are without, and nothing that is guarded comes into a magazine or a slab.
type Guarded struct{ sampler }

// Enroll has objects of so many bytes guarded while the guard is on. It is called when
// the owner is opened, and again from time to time, for those that were open before the
// guard was on. ops returns how many operations there were; the owner's lock may be held.
func (g *Guarded) Enroll(size uintptr, hooks *atomic.Uint32, ops func() uint64) {
	if g.hooks == nil && guard.On() && guard.Fits(size) {
		g.ready(hooks, guard.Each, guard.MaxSlots)
		g.enlist(ops)
	}
}

// Out returns what to hand out in place of p, which is zero: an object that is guarded,
// or p, if none is to be or there is no slot. fresh makes one of Go's heap.
func (g *Guarded) Out(p unsafe.Pointer, o Owner, pointers bool, fresh func() unsafe.Pointer) unsafe.Pointer {
	if !g.take() {
		return p
	}
	q := guard.Place(guard.Object{Type: o.Type, Pointers: pointers, Title: o.Title(), Owner: g.number(), StandIn: p, New: fresh})
	if q == nil {
		g.back()
		return p
	}
	return q
}

// Back ends the guard over p, if there is one, and returns what is to be freed in its
// place: p if there was none. It panics for a second Free of p.
func (g *Guarded) Back(p unsafe.Pointer, wipe func(unsafe.Pointer)) unsafe.Pointer {
	if !guard.Perhaps(p) {
		return p
	}
	q, bad := guard.Release(p, g.number(), wipe)
	if bad != nil {
		panic(bad)
	}
	if q == nil {
		return p
	}
	g.back()
	return q
}

// number is what the guard knows the owner by.
func (g *Guarded) number() uintptr { return uintptr(unsafe.Pointer(g)) }

// Guards reports whether the object at p may be guarded. If it does not, it is not.
func Guards(p unsafe.Pointer) bool { return guard.Perhaps(p) }
