package memctx

import "fmt"

// SetParent moves the context, with all below it, from where it is to below p, or
// makes it a root if p is a nil Context. What it holds of the limits above moves along; what
// was abandoned below it stays where it is counted. SetParent returns an error if
// p is the context itself or below it, if one of the two was abandoned, and an
// [*arena.LimitError] if a limit above p has no room; then nothing has changed.
// Its cost is the number of contexts below. On a nil Context it does nothing. It
// panics if p is deleted, or if the context is and no lease holds it.
//
// The use is Postgres': build something in a context that goes with its maker
// if that fails, and move it below one that lives longer when it is done.
func (mc *Context) SetParent(p *Context) error { return mc.ref().setParent(p.ref()) }

func (c ref) setParent(p ref) error {
	if c.node == nil {
		return nil
	}
	c.mustBeUsable("SetParent")
	old, refused := c.move(p)
	if refused != nil {
		return refused()
	}
	if old.node != nil { // and may have waited for c alone
		old.endUnheld(nil)
	}
	return nil
}

// move is SetParent without the end of the parent before, which it returns. It
// holds mu of all contexts that have a part in it, so that none of them ends, and
// nobody makes contexts below them, in the meantime; so it leaves it to the caller to say
// what was refused.
func (c ref) move(p ref) (old ref, refused func() error) {
	structure.Lock()
	defer structure.Unlock()
	wasAbandoned := func(x ref) func() error {
		return func() error {
			return fmt.Errorf("memctx: SetParent of %s to %s: %s was abandoned", c.path(), p.path(), x.path())
		}
	}
	for q := p; q.node != nil; _, q = q.look() {
		if q == c {
			return old, func() error {
				return fmt.Errorf("memctx: SetParent of %s to %s: want a context that is not the same or below it", c.path(), p.path())
			}
		}
	}
	deleted := func() error { panic("memctx: SetParent of " + c.path() + " to the deleted context " + p.path()) }
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mayHaveChildren() {
		return old, func() error { c.unusable("SetParent"); return nil }
	}
	if c.forsaken {
		return old, wasAbandoned(c)
	}
	if p.node == c.node { // which is c's now
		return old, deleted
	}
	var up *ledger
	if p.node != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case p.is(live):
		case p.is(abandoned):
			return old, wasAbandoned(p)
		default:
			return old, deleted
		}
		up = p.bound()
	}
	old = c.above.ref()
	if p == old {
		return ref{}, nil
	}
	if from := c.ledger.up; from != up {
		if full, n := c.moveLedgers(from, up); full != nil {
			return old, func() error { return full.limitError(c, p, n) }
		}
	}
	if old.node != nil {
		old.mu.Lock()
		defer old.mu.Unlock()
		old.remove(c.node)
	}
	c.parent.Store(p.node)
	c.above = p.public()
	if p.node != nil {
		p.link(c.node)
		c.unwatch()
	} else {
		c.becomeRoot()
	}
	return old, nil
}

// moveLedgers makes the ledgers of the subtree that pass on to from do so to to,
// and moves what they passed on, which is n bytes. If there is no room it changes
// nothing and returns the ledger that is full. c.mu is held.
//
// A context that is gone but not out of the tree yet does not move: what its ledger
// still counts is given back to from, by a claim that may be there already.
func (c *node) moveLedgers(from, to *ledger) (full *ledger, n int) {
	var moving []*ledger
	list := []*node{c}
	for i := 0; i < len(list); i++ {
		x := list[i]
		if x != c {
			x.mu.Lock()
			defer x.mu.Unlock()
		}
		if x.state() == gone {
			continue
		}
		x.ledger.acct.Lock()
		moving = append(moving, &x.ledger)
		n += x.ledger.passed()
		if !x.ledger.isBound { // below a bound one nothing changes
			for y := x.first; y != nil; y = y.next {
				list = append(list, y)
			}
		}
	}
	full = shift(from, to, n)
	for _, x := range moving {
		if full == nil {
			x.up = to
		}
		x.acct.Unlock()
	}
	return full, n
}

// shift makes to count n bytes that from counted. If a limit does not permit it,
// it changes nothing and returns the ledger whose limit it is. All ledgers below
// the first that is above both are locked until it is known, so that nobody else
// takes what is on its way, and what both are below counts no more than it must.
func shift(from, to *ledger, n int) (full *ledger) {
	common := meet(from, to)
	less, more := -n, n
	for x := from; x != common; x = x.up {
		x.acct.Lock()
		defer x.acct.Unlock()
		less = x.passing(less)
	}
	for x := to; x != common; x = x.up {
		x.acct.Lock()
		defer x.acct.Unlock()
		if full == nil && !x.fits(more) {
			full = x
		}
		more = x.passing(more)
	}
	if full == nil {
		full = common.pass(more + less)
	}
	if full != nil {
		return full
	}
	less, more = -n, n
	for x := from; x != common; x = x.up {
		less = x.add(less)
	}
	for x := to; x != common; x = x.up {
		more = x.add(more)
	}
	return nil
}

// meet returns the first ledger that both pass on to, by way of others or
// themselves, or nil. structure is held.
func meet(x, y *ledger) *ledger {
	more := 0 // ledgers above x than above y
	for z := x; z != nil; z = z.up {
		more++
	}
	for z := y; z != nil; z = z.up {
		more--
	}
	for ; more > 0; more-- {
		x = x.up
	}
	for ; more < 0; more++ {
		y = y.up
	}
	for x != y {
		x, y = x.up, y.up
	}
	return x
}
