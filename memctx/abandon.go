package memctx

import "runtime"

// Abandon takes the context and all below it out of the tree and leaves them to
// the garbage collector. None of their memory is used again, and whoever still
// uses them may go on: so it is always safe, and the way to end the memory of a
// handler that has timed out and may still run. What is made below them from then
// on is abandoned as well. Deleting such a context later is right, and not needed;
// only then its callbacks run. What was deleted before and waits for a lease ends
// with that.
//
// What the contexts have of the limits above stays taken until the garbage
// collector finds that nothing refers to them. Abandon may be called from any
// goroutine, also while another uses the context. On a nil or abandoned context it
// does nothing. It panics after Delete, unless there is a lease.
func (c *Context) Abandon() {
	if c == nil {
		return
	}
	p := c.leaveTree()
	if p != nil && p.state.Load() == ended { // and may have waited for c alone
		t := teardown{list: []*Context{p}}
		t.run()
	}
}

// leaveTree abandons c and all below it, and returns the parent that it had until
// now, if any.
func (c *Context) leaveTree() *Context {
	structure.Lock()
	defer structure.Unlock()
	c.mu.Lock()
	ok, s := c.usable(), c.state.Load()
	if ok && (s == live || s == ended) {
		c.state.Store(abandoned)
		if !c.forsaken {
			c.forsake(c.ledger.up)
		}
	}
	c.mu.Unlock()
	switch {
	case !ok:
		c.unusable("Abandon")
	case s == abandoned, s == ending:
		return nil
	}
	c.members(false, func(x *Context) {
		if x.state.Load() == live {
			x.state.Store(abandoned)
		}
		if !x.forsaken {
			x.forsake(c.ledger.up)
		}
	})
	return c.unlink()
}

// forsake makes c one whose memory is never used again. What it has of the limit
// of up, from where the abandoned part of the tree begins, stays taken; a context
// that passes on to another ledger is settled with that one. c.mu is held, if
// others know c.
func (c *Context) forsake(up *ledger) {
	c.forsaken = true
	c.unwatch()
	c.kind.abandoned.Add(1)
	raise(&c.kind.peak, c.ledger.peak.Load())
	if up != nil && c.ledger.up == up {
		c.leaveClaim()
	}
}

// A claim is what an abandoned context still holds of the limits above it, until
// the garbage collector finds that nothing refers to it. The arena refers to its
// context's ledger, and so to the context.
type claim struct {
	up     *ledger
	passed int // guarded by the context's acct
}

// leaveClaim makes the garbage collector give back what the context passed on.
func (c *Context) leaveClaim() {
	x := &c.ledger
	x.acct.Lock()
	defer x.acct.Unlock()
	x.claim = &claim{x.up, x.passed()}
	runtime.AddCleanup(c, (*claim).settle, x.claim)
}

// settle gives back what an abandoned context held to the end. There is nobody
// left to hold acct.
func (c *claim) settle() {
	c.up.pass(-c.passed)
}
