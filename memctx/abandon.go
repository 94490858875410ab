package memctx

import "runtime"

// Abandon takes the context and all below it out of the tree and leaves them to
// the garbage collector. None of their memory is used again, and whoever still
// uses them may go on: so it is always safe, and the way to end the memory of a
// handler that has timed out and may still run. Deleting such a context later is
// right, and not needed; only then its callbacks run.
//
// What the contexts have of the limits above stays taken until the garbage
// collector finds that nothing refers to them. On a nil or abandoned context
// Abandon does nothing. It panics after Delete, unless there is a lease.
func (c *Context) Abandon() {
	if c == nil {
		return
	}
	c.notInCallback("Abandon")
	c.mustBeUsable("Abandon")
	c.unwatch()
	structure.Lock()
	if c.state.Load() == abandoned {
		structure.Unlock()
		return
	}
	up := c.ledger.up
	for _, m := range c.members(true, func(x *Context) {
		x.state.Store(abandoned)
		x.forsaken = true
	}) {
		m.c.kind.abandoned.Add(1)
		if m.c.ledger.up == up && up != nil {
			m.c.leaveClaim()
		}
	}
	p := c.unlink()
	c.detached = true
	structure.Unlock()
	if p != nil && p.state.Load() == ended { // and may have waited for c alone
		t := teardown{list: []*Context{p}}
		t.run()
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
	c.up.pass(-c.passed, true)
}
