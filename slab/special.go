package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
)

// What Alloc and Free do when the fast path is not enough: caches with a
// capacity, with Init or with Clear, objects that are large or have no size, and
// magazines that are empty or full.

// wide is the size in bytes above which an object is not cleared by assigning to
// it: the compiler would put the zero value on the heap.
const wide = 64 << 10

// wipe sets *p to zero.
func wipe[T any](p *T) { clear(unsafe.Slice(p, 1)) }

// slow is Alloc when the current magazine is empty.
func (c *Cache[T]) slow() *T {
	c.prepare()
	p := c.takeOne()
	if magazine.Race {
		magazine.Acquire(p)
	}
	if sanitize.Poisons {
		sanitize.Grant(p, c.ops.size)
	}
	return (*T)(p)
}

func (c *core) takeOne() unsafe.Pointer {
	var p [1]unsafe.Pointer
	c.take(p[:])
	return p[0]
}

// slowFree is Free when the current magazine is full.
func (c *Cache[T]) slowFree(p *T) {
	c.prepare()
	c.giveOne(unsafe.Pointer(p))
}

func (c *core) giveOne(p unsafe.Pointer) {
	if _, bad := c.give([]unsafe.Pointer{p}); bad != "" {
		panic(bad)
	}
}

// alloc is Alloc with all that options ask for.
func (c *Cache[T]) alloc() (p *T, err error) {
	c.prepare()
	if err := c.acquire(1); err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done {
			c.undo(p)
		}
	}()
	p = (*T)(c.takeOne())
	if magazine.Race {
		magazine.Acquire(unsafe.Pointer(p))
	}
	if sanitize.Poisons {
		sanitize.Grant(unsafe.Pointer(p), c.ops.size)
	}
	if c.init != nil && c.ops.build == nil {
		c.init(p)
	}
	done = true
	if check.Enabled {
		c.noteAlloc(p)
	}
	if c.hooks.Load()&hookAlloc != 0 {
		p = (*T)(c.guard(unsafe.Pointer(p)))
	}
	return p, nil
}

// undo ends an alloc that cannot return: p, if it is not nil, is nobody's.
func (c *Cache[T]) undo(p *T) {
	if p != nil {
		c.giveBack(unsafe.Pointer(p))
	}
	c.release(1)
}

// free is Free with all that options ask for.
func (c *Cache[T]) free(p *T) {
	c.prepare()
	if p == nil {
		panic("slab: Free of a nil *" + c.ops.typ + " in " + c.title())
	}
	if check.Enabled && !c.checkFree(p) {
		return
	}
	if sanitize.Poisons {
		sanitize.MustHave(unsafe.Pointer(p), c.ops.size)
	}
	if c.hooks.Load()&hookFree != 0 {
		p = (*T)(c.unguard(unsafe.Pointer(p)))
	}
	done := false
	defer func() {
		if !done {
			c.giveBack(unsafe.Pointer(p))
			c.release(1)
		}
	}()
	if c.clear != nil {
		c.clear(p)
	} else {
		wipe(p)
	}
	done = true
	if check.Enabled && c.ops.size > 0 {
		c.freeChecked(p)
		return
	}
	if sanitize.Enabled {
		sanitize.Revoke(unsafe.Pointer(p), c.ops.size)
	}
	if magazine.Race {
		magazine.Release(unsafe.Pointer(p))
	}
	// The capacity comes back when the object is there; but also if there is
	// something wrong with others.
	defer c.release(1)
	c.giveOne(unsafe.Pointer(p))
}
