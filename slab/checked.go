package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/track"
)

// In the check build each object is known by its address, and one that is freed is
// poisoned and waits in a queue of the cache before it goes to the magazines. A
// second Free, one of a pointer that is none of the cache's objects, and a write to
// an object that waits are reported at once, or when it leaves the queue.

// noteAlloc takes down that p was handed out.
func (c *core) noteAlloc(p unsafe.Pointer) { c.checked.Get().Alloc(p, c.name, c.title(), c.typ) }

// checkFree reports a Free that is a mistake, which is to change nothing.
func (c *core) checkFree(p unsafe.Pointer) (ok bool) {
	if c.size == 0 {
		return true
	}
	bad := c.checked.Get().Check(p, c.title())
	if bad != nil {
		check.Raise(bad)
	}
	return bad == nil
}

// freeChecked poisons p and has it wait.
func (c *core) freeChecked(p unsafe.Pointer) {
	var restore func()
	if c.clear != nil { // what it left is for the next user
		restore = c.copyOf(p)
		c.wipe(p)
	}
	c.checked.Get().Free(p, restore)
	c.release(1)
	c.leave(false)
}

// leave gives objects that have waited long enough, or all, to the magazines.
func (c *core) leave(all bool) {
	for {
		bad := c.checked.Get().Leave(all, func(h check.Held) {
			c.wipe(h.P)
			if h.Restore != nil {
				h.Restore()
			}
			track.Back(h.P, c.size)
			c.giveOne(h.P)
		})
		if bad == nil {
			return
		}
		check.Raise(bad)
	}
}
