package memctx

// Retain takes a lease: the context's memory stays until as many calls of
// [Context.Release], also over its Delete, and that of the contexts above it that
// are deleted with it, unless somebody takes it back in the arena itself (see
// [Context.Arena]). Who has a lease may go on using the context. Take it before
// the context can be deleted: before starting the goroutine that outlives a
// handler, not in it. Retain may be called from any goroutine. On a nil context
// it does nothing. It panics after Delete, unless there is another lease.
func (c *Context) Retain() {
	if c == nil {
		return
	}
	if !c.tryRetain() {
		c.unusable("Retain")
	}
}

// tryRetain is Retain that reports false where Retain panics.
func (c *Context) tryRetain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.usable() || c.state.Load() == ending {
		return false
	}
	c.leases++
	return true
}

// Release gives a lease back. The last one of a deleted context ends it: its
// callbacks run, on this goroutine, and those of the contexts above that waited
// for it. Release may be called from any goroutine. On a nil context it does
// nothing. It panics if there is no lease.
func (c *Context) Release() {
	if c == nil {
		return
	}
	c.mu.Lock()
	if c.leases == 0 {
		c.mu.Unlock()
		if c.state.Load() == invalid {
			c.unusable("Release")
		}
		panic("memctx: Release without Retain" + c.of())
	}
	c.leases--
	c.mu.Unlock()
	if c.claim() {
		c.finish(nil)
	}
}

// deleteHeld is Delete and Release by the holder of a lease, who may be late: the
// context may have been deleted with one above it.
func (c *Context) deleteHeld() {
	c.mu.Lock()
	c.leases--
	if c.state.Load() != ended {
		c.delete()
		return
	}
	c.mu.Unlock()
	if c.claim() {
		c.finish(nil)
	}
}
