package memctx

import "sync/atomic"

// Retain takes a lease: until release is called, the context's memory stays, also
// over its Delete, and so does the memory of contexts above that are deleted with it,
// unless somebody takes it back in the arena itself (see [Context.Arena]). The holder
// of a lease may go on using the context. Take it before the context can be deleted:
// before starting the goroutine that outlives a handler, not in it.
//
// The function gives the lease back. Later calls of it do nothing. The last lease of a
// deleted context ends it: its callbacks run, on the goroutine that calls release, and
// those of the contexts above that waited for it. Each call of Retain is a lease of its
// own.
//
// Retain and release may be called from any goroutine. The function of the zero
// Context does nothing. Retain panics after Delete, unless there is another lease.
func (mc *Context) Retain() (release func()) {
	c := mc.ref()
	if c.node == nil {
		return func() {}
	}
	if !c.tryRetain() {
		c.unusable("Retain")
	}
	var given atomic.Bool
	return func() {
		if !given.Swap(true) {
			c.release()
		}
	}
}

// tryRetain takes a lease and reports true, unless the context has come to its end.
func (c ref) tryRetain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mayHaveChildren() {
		return false
	}
	c.leases++
	return true
}

// release gives a lease back.
func (c ref) release() {
	c.mu.Lock()
	c.leases--
	c.mu.Unlock()
	c.endUnheld(nil)
}

// deleteHeld is Delete and release by the holder of a lease, who may be late: the
// context may have been deleted with one above it.
func (c ref) deleteHeld() {
	c.mu.Lock()
	c.leases--
	if !c.is(ended) {
		c.delete()
		return
	}
	c.mu.Unlock()
	c.endUnheld(nil)
}
