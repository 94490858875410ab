package memctx

import (
	"runtime"
	"weak"
)

// Abandon takes the context and all below it out of the tree and leaves them to the
// garbage collector. Neither their end nor their Reset uses their memory again, and
// whoever still uses them may go on: so it is always safe, and the way to end the
// memory of a handler that has timed out and may still run. What is made below them
// from then on is abandoned as well. Deleting such a context later is right, and
// not needed; only then its callbacks run. What was deleted before and waits for a
// lease ends with the lease.
//
// What the contexts have of the limits above stays taken until the garbage
// collector finds that nothing refers to them. Abandon may be called from any
// goroutine, also while another uses the context. On a nil Context it does nothing.
// On an abandoned one it only keeps the Delete of a context above from ending it.
// It panics after Delete, unless there is a lease.
func (mc *Context) Abandon() {
	c := mc.ref()
	if c.node == nil {
		return
	}
	above := c.leaveTree()
	if above.node != nil { // and may have waited for c alone
		above.endUnheld(nil)
	}
}

// leaveTree abandons c and all below it, and returns the parent that it had until
// now, if any.
func (c ref) leaveTree() (parent ref) {
	structure.Lock()
	defer structure.Unlock()
	c.mu.Lock()
	ok, s := c.usable(), c.state()
	if ok && (s == live || s == ended) {
		c.become(abandoned)
		if !c.forsaken {
			c.forsake()
		}
	}
	c.mu.Unlock()
	switch {
	case !ok:
		c.unusable("Abandon")
	case s == ending:
		return ref{}
	case s == abandoned:
		return c.unlink() // from one that was abandoned with it, and may be deleted
	}
	c.members(false, func(x *node) {
		if x.state() == live {
			x.become(abandoned)
		}
		if !x.forsaken {
			x.forsake()
		}
	})
	return c.unlink()
}

// forsake makes c one whose memory is never used again. What it has of the limits
// above stays taken. c.mu is held, if others know c.
func (c *node) forsake() {
	c.forsaken = true
	c.unwatch()
	c.kind.abandoned.Add(1)
	c.ledger.acct.Lock()
	c.ledger.leaveClaim()
	c.ledger.acct.Unlock()
}

// A claim is what a ledger passed on to the one above and nobody gives back, until
// the garbage collector finds that nothing refers to its context: because that was
// abandoned, or because it ended while there were claims below. The arena refers
// to its context's ledger, and so to the context.
//
// A claim refers to the ledger above weakly. That one's context may well refer to
// this one, through a callback or a value, and the garbage collector would keep
// both for ever, since it keeps what a cleanup refers to. Where they go together,
// the claim of the one above has all that is in the one below.
type claim struct {
	up     weak.Pointer[ledger]
	passed int // guarded by the acct of the ledger whose claim it is
}

// leaveClaim makes the garbage collector give back what the ledger passes on.
// x.acct is held.
func (x *ledger) leaveClaim() {
	if x.up == nil || x.claim != nil {
		return
	}
	x.up.claimed.Store(true)
	x.claim = &claim{weak.Make(x.up), x.passed()}
	runtime.AddCleanup(x.node, (*claim).settle, x.claim)
}

// settle gives back what the ledger held to the end. There is nobody left to hold
// its acct.
func (c *claim) settle() { c.up.Value().pass(-c.passed) }
