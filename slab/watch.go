package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// What watches caches, Locals and tables: package internal/track.
//
// In the check build each object is known by its address, and one that is freed is
// poisoned and waits before it goes to the magazines. A second Free, one of a pointer
// that is none of the owner's objects, and a write to an object that waits are reported
// at once, or when it has waited. A handle to an element that was removed is no mistake,
// but a write through a pointer is.
//
// A slab that is given back is left to the collector anyway, so to have it look whether
// something still points to one costs only the looking. A table never gives a chunk back.
//
// The guard leaves out caches with Init or Reset: an object that stays built may be known
// elsewhere by its address, or point to itself.

func (c *core) owner() track.Owner {
	return track.Owner{Kind: "cache", Name: c.name, Title: c.title, Type: c.typ}
}

func (l *local) owner() track.Owner {
	return track.Owner{Kind: "local", Title: l.title, Type: l.typ, Busy: l.busy.Get()}
}

func (t *table) owner() track.Owner {
	return track.Owner{Kind: "table", Name: t.name, Title: t.title, Type: t.typ, Busy: t.busy.Get()}
}

// title returns what messages call the Local.
func (l *local) title() string { return "a Local" }

// enroll has the cache guarded while the guard is on. The lock is held.
func (c *core) enroll() {
	if c.init == nil && c.clear == nil {
		c.guarded.Enroll(c.size, &c.hooks, c.opsNow)
	}
}

// handed returns what to hand out in place of p.
func (c *core) handed(p unsafe.Pointer) unsafe.Pointer {
	if check.Enabled {
		c.watch.Out(p, c.owner())
	}
	if c.hooks.Load()&track.HookOut == 0 {
		return p
	}
	return c.guarded.Out(p, c.owner(), c.pointers, func() unsafe.Pointer { return c.make(1) })
}

// taken returns what is to be freed in place of p, or nil if to free it is a mistake.
func (c *core) taken(p unsafe.Pointer) unsafe.Pointer {
	if check.Enabled && !c.watch.May(p, c.owner()) {
		return nil
	}
	sanitize.MustHave(p, c.size)
	if c.hooks.Load()&track.HookBack == 0 {
		return p
	}
	return c.guarded.Back(p, c.wipe)
}

// plain reports whether the fast path may free p although there are hooks: the cache
// has no options, and p is not guarded.
//
//go:noinline
func (c *core) plain(p unsafe.Pointer) bool {
	return p != nil && c.hooks.Load()&track.HookOptions == 0 && c.opened.Load() && c.size <= wide && !track.Watched && !track.Guards(p)
}

// freeChecked has p wait.
func (c *core) freeChecked(p unsafe.Pointer) {
	defer c.release(1)
	restore := func() { c.wipe(p) }
	if c.clear != nil { // what it left is for the next user
		restore = track.Keep(p, c.typ)
		c.wipe(p)
	}
	c.watch.Back(p, c.owner(), func() {
		restore()
		track.Back(p, c.size)
		c.giveOne(p)
	})
}

// giveBackSlabs gives up to n empty slabs to the garbage collector and returns how
// many there were. The lock is held.
func (c *core) giveBackSlabs(n int) int {
	r := track.Drop(c.owner())
	defer r.End()
	return c.slabs.release(n, func(s *slab) {
		if c.watch.Dropped.Due(false) == 0 {
			return
		}
		// Objects that stay built may refer to those of other slabs.
		if c.stay() {
			for i := range c.slabs.n {
				c.wipe(c.slabs.at(s, i))
			}
		}
		r.Add(c.typ.String(), s.mem, c.slabs.bytes())
	})
}

// allocWatched is Alloc where each operation is watched.
func (l *local) allocWatched() unsafe.Pointer {
	defer l.busy.Get().Begin(l.title).Exit()
	if l.front.i == 0 {
		l.refill()
	}
	l.front.i--
	p := l.front.mag[l.front.i]
	if check.Enabled {
		l.watch.Out(p, l.owner())
	}
	sanitize.Grant(p, l.size)
	return p
}

// freeChecked is Free in the check build.
func (l *local) freeChecked(p unsafe.Pointer) {
	if !l.watch.May(p, l.owner()) {
		return
	}
	l.wipe(p)
	l.watch.Back(p, l.owner(), func() {
		l.wipe(p)
		l.front.mag[l.front.i] = p
		l.front.i++
		if l.front.i == l.front.full {
			l.mustSettle()
		}
	})
}

// noteInsert takes down that the memory at p has an element.
func (t *table) noteInsert(p unsafe.Pointer) {
	defer t.busy.Get().Begin(t.title).Exit()
	t.watch.Out(p, t.owner())
}

// removeChecked has the memory at p, the element of s, which is zero, wait before its slot
// is free.
func (t *table) removeChecked(s *slotHead, p unsafe.Pointer, place uint32) {
	t.watch.Back(p, t.owner(), func() {
		t.wipe(p)
		s.next = t.free
		t.free = place
	})
}
