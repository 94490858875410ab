package slab

import (
	"fmt"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/track"
)

// What Alloc and Free do when the fast path is not enough: caches with a
// capacity, with Init or with Reset, objects that are large or have no size, and
// magazines that are empty or full.

// wide is the size in bytes above which an object is not cleared by assigning to
// it: the compiler would put the zero value on the heap.
const wide = 64 << 10

// slow is Alloc when the current magazine is empty.
func (c *core) slow(null any) unsafe.Pointer { return c.ready(null).takeOne() }

// takeOne returns an object, as its next user gets it but for Init.
func (c *core) takeOne() unsafe.Pointer {
	var one [1]unsafe.Pointer
	c.take(one[:])
	p := one[0]
	track.Out(p, c.size)
	return p
}

// slowFree is Free when the current magazine is full.
func (c *core) slowFree(null any, p unsafe.Pointer) { c.ready(null).giveOne(p) }

func (c *core) giveOne(p unsafe.Pointer) {
	if _, bad := c.give([]unsafe.Pointer{p}); bad != "" {
		panic(bad)
	}
}

// mustAlloc is alloc that panics with the error.
//
//go:noinline
func (c *core) mustAlloc(null any) unsafe.Pointer {
	p, err := c.alloc(null)
	if err != nil {
		panic(err)
	}
	return p
}

// alloc is Alloc with all that options ask for.
func (c *core) alloc(null any) (p unsafe.Pointer, err error) {
	if err := c.ready(null).acquire(1); err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done {
			c.undo(p)
		}
	}()
	p = c.takeOne()
	if c.init != nil && !c.stay() {
		c.init(p)
	}
	done = true
	return c.handed(p), nil
}

// undo ends an alloc that cannot return: p, if it is not nil, is nobody's.
func (c *core) undo(p unsafe.Pointer) {
	if p != nil {
		c.giveBack(p)
	}
	c.release(1)
}

// free is Free with all that options ask for.
func (c *core) free(null any, p unsafe.Pointer) {
	c.ready(null)
	if p == nil {
		panic(fmt.Sprintf("slab: Free of a nil *%v in %s", c.typ, c.title()))
	}
	if p = c.taken(p); p == nil {
		return
	}
	done := false
	defer func() {
		if !done {
			c.giveBack(p)
			c.release(1)
		}
	}()
	if c.clear != nil {
		c.clear(p)
	} else {
		c.wipe(p)
	}
	done = true
	if check.Enabled {
		c.freeChecked(p)
		return
	}
	track.Back(p, c.size)
	// The capacity comes back when the object is there; but also if there is
	// something wrong with others.
	defer c.release(1)
	c.giveOne(p)
}
