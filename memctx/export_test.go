package memctx

import (
	"fmt"

	"github.com/haven-mem/haven/arena"
)

// Numbers that tests go up to.
const (
	MaxKinds   = maxKinds
	OtherNames = otherNames
	GrowsAfter = growsAfter
	ListRows   = listRows
	MaxChain   = maxChain
)

// StateOf names the context's state.
func StateOf(c *Context) string { return stateOf(c.ref()) }

func stateOf(c ref) string {
	if !c.holds() {
		return "gone"
	}
	return [...]string{"live", "abandoned", "ended", "ending", "gone"}[c.state()]
}

// Taken returns what the context's ledger counts: the bytes of its arena and, if
// it has a limit or a reserve, all that those below passed on.
func Taken(p *Context) int {
	c := p.ref()
	if !c.holds() {
		return 0
	}
	c.ledger.acct.Lock()
	defer c.ledger.acct.Unlock()
	return c.ledger.total
}

// ArenaOf returns the context's arena if it has one, whatever state it is in.
func ArenaOf(p *Context) *arena.Arena {
	c := p.ref()
	if !c.holds() {
		return nil
	}
	return c.arena.Load()
}

// Replaced reports whether the context has ended and another has its node.
func Replaced(p *Context) bool {
	c := p.ref()
	return c.node != nil && !c.holds()
}

// NodeOf returns what a context refers to.
func NodeOf(c *Context) *node { return c.ref().node }

// Check returns an error if something does not add up: in the contexts given, in
// all that are listed, and in those above and below. Nobody may be at work in
// them, and abandoned contexts that have charges must be given. Of a node that is
// another's now it checks that one.
func Check(given ...*Context) error {
	if !structure.TryLock() {
		return fmt.Errorf("structure is locked")
	}
	structure.Unlock()
	seen := map[*node]bool{}
	var list []*node
	add := func(c *node) {
		if c != nil && !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
	}
	for _, c := range given {
		add(c.ref().node)
	}
	for c := range rootRefs() {
		add(c.node)
	}
	for i := 0; i < len(list); i++ {
		add(list[i].parent.Load())
		for y := list[i].first; y != nil; y = y.next {
			add(y)
		}
	}
	passed := map[*ledger]int{} // by the ledgers below
	linked := map[*node]int{}
	for _, c := range list {
		if c.ledger.up != nil {
			passed[c.ledger.up] += c.ledger.passed()
		}
		if c.linked {
			linked[c.parent.Load()]++
		}
	}
	for _, c := range list {
		err := c.checkPlace(linked[c])
		if err == nil {
			err = c.checkLedger(passed[&c.ledger])
		}
		if err != nil {
			return fmt.Errorf("%s (%s): %w", c.handle().path(), stateOf(c.handle()), err)
		}
	}
	return nil
}

// checkPlace verifies the context's state and its links.
func (c *node) checkPlace(linked int) error {
	if !c.mu.TryLock() {
		return fmt.Errorf("mu is locked")
	}
	defer c.mu.Unlock()
	watched := c.watch != nil && c.watch.on.Load()
	n := 0
	var prev *node
	for y := c.first; y != nil; prev, y = y, y.next {
		n++
		if y.prev != prev || y.parent.Load() != c || !y.linked || y.state() == gone || n > c.children {
			return fmt.Errorf("child %s (%s) is not linked as it should", y.kind.name, stateOf(y.handle()))
		}
	}
	p, s := c.parent.Load(), c.state()
	switch {
	case c.last != prev || n != c.children || n != linked:
		return fmt.Errorf("%d children, %d counted, %d that say so", n, c.children, linked)
	case c.calling:
		return fmt.Errorf("says that a callback is running")
	case p == nil && c.linked, c.prev != nil && !c.linked, c.next != nil && !c.linked:
		return fmt.Errorf("is linked wrongly")
	case watched && (p != nil || c.forsaken || s == gone), !watched && p == nil && !c.forsaken && s != gone:
		return fmt.Errorf("watched: %t", watched)
	case c.linked && p.handle() != c.above.ref():
		return fmt.Errorf("is below a context that is not its parent")
	case p == nil && c.watch == nil:
		return fmt.Errorf("is not in the list of roots")
	}
	switch s {
	case live:
		if c.forsaken || p != nil && !c.linked {
			return fmt.Errorf("forsaken: %t, linked: %t", c.forsaken, c.linked)
		}
	case abandoned:
		if !c.forsaken {
			return fmt.Errorf("not forsaken")
		}
	case ended:
		if c.leases == 0 && c.children == 0 {
			return fmt.Errorf("nothing holds it any more")
		}
	case gone:
		if c.leases > 0 || c.children > 0 || c.linked || c.arena.Load() != nil || len(c.callbacks) > 0 {
			return fmt.Errorf("has %d leases, %d children, linked: %t, arena: %t, %d callbacks",
				c.leases, c.children, c.linked, c.arena.Load() != nil, len(c.callbacks))
		}
	default:
		return fmt.Errorf("is not at rest")
	}
	return nil
}

// checkLedger verifies the equations of ledger; passed is what those below pass on.
func (c *node) checkLedger(passed int) error {
	x := &c.ledger
	if !x.acct.TryLock() {
		return fmt.Errorf("acct is locked")
	}
	defer x.acct.Unlock()
	own := c.ledger.own
	var want Usage
	if c.arena.Load() != nil {
		s := c.arena.Load().Stats()
		want.Bytes, want.Chunks = s.Reserved, s.Chunks
	}
	if c.untyped != nil {
		s := c.untyped.Stats()
		want.Bytes += s.Reserved
		want.Chunks += s.Chunks
	}
	p, s := c.parent.Load(), c.state()
	switch {
	case own.Bytes != want.Bytes || own.Chunks != want.Chunks:
		return fmt.Errorf("%d bytes in %d chunks counted, the arena has %d in %d", own.Bytes, own.Chunks, want.Bytes, want.Chunks)
	case !x.isBound && passed != 0:
		return fmt.Errorf("%d bytes were passed on to a ledger that is not bound", passed)
	case x.total != own.Bytes+passed:
		return fmt.Errorf("total is %d, the arena has %d, and %d were passed on", x.total, own.Bytes, passed)
	case x.limit > 0 && (x.total > x.limit || x.reserve > x.limit):
		return fmt.Errorf("total is %d and %d set aside, over the limit of %d", x.total, x.reserve, x.limit)
	case x.totalPeak < x.total || own.HighWater < own.Bytes || x.node.kind.peak.Load() < int64(own.HighWater):
		return fmt.Errorf("total is %d, peak %d; own %d, peak %d", x.total, x.totalPeak, own.Bytes, own.HighWater)
	case s == gone && x.reserve != 0:
		return fmt.Errorf("%d bytes are still set aside", x.reserve)
	case p == nil && x.up != nil:
		return fmt.Errorf("a root passes on to another ledger")
	case c.linked && x.up != p.bound():
		return fmt.Errorf("passes on to a ledger that is not the next one above")
	}
	settles := c.forsaken && x.up != nil && !x.up.node.forsaken
	if settles && x.claim == nil && s != gone {
		return fmt.Errorf("abandoned, and nobody gives back what it holds")
	}
	if x.claim != nil && (x.claim.up.Value() != x.up || x.claim.passed != x.passed()) {
		return fmt.Errorf("a claim of %d for %d bytes", x.claim.passed, x.passed())
	}
	return nil
}

// IsSampled reports whether it was taken down where the context was made.
func IsSampled(c *Context) bool { return c.r.site != nil }

// Release gives back a lease, instead of the function that Retain returns, where there is
// no place to keep that.
func (mc *Context) Release() {
	c := mc.ref()
	if c.node != nil {
		c.release()
	}
}
