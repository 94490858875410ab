package memctx

import "fmt"

// SetParent moves the context, with all below it, from where it is to below p, or
// makes it a root if p is nil. What it holds of the limits above moves along. It
// returns an error if p is the context itself or below it, if one of the two was
// abandoned, and an [*arena.LimitError] if a limit above p has no room; then
// nothing has changed. Its cost is the number of contexts below. On a nil context
// it does nothing. It panics if one of the two is deleted.
//
// The use is Postgres': build something where it goes with its maker if that
// fails, and give it to a longer life when it is done.
func (c *Context) SetParent(p *Context) error {
	if c == nil {
		return nil
	}
	c.mustBeUsable("SetParent")
	structure.Lock()
	old, err := c.move(p)
	structure.Unlock()
	if err == nil && old != nil && old.state.Load() == ended { // and may have waited for c alone
		t := teardown{list: []*Context{old}}
		t.run()
	}
	return err
}

// move is SetParent with structure held. It returns the parent before.
func (c *Context) move(p *Context) (old *Context, err error) {
	old = c.parent.Load()
	for q := p; q != nil; q = q.parent.Load() {
		if q == c {
			return old, fmt.Errorf("memctx: SetParent of %s to %s: want a context that is not the same or below it", c.Path(), p.Path())
		}
	}
	for _, x := range []*Context{c, p} {
		if x != nil && x.state.Load() == abandoned {
			return old, fmt.Errorf("memctx: SetParent of %s to %s: %s was abandoned", c.Path(), p.Path(), x.Path())
		}
	}
	if p != nil && p.state.Load() != live {
		panic(fmt.Sprintf("memctx: SetParent of %s to the deleted context %s", c.Path(), p.Path()))
	}
	if p == old {
		return old, nil
	}
	var up *ledger
	if p != nil {
		p.mu.Lock()
		up = p.bound()
		p.mu.Unlock()
	}
	from := c.ledger.up
	if from != up {
		if err := c.moveLedgers(from, up, false); err != nil {
			c.moveLedgers(up, from, true)
			return old, err
		}
	}
	if old != nil {
		old.mu.Lock()
		defer old.mu.Unlock()
		old.remove(c)
	}
	c.parent.Store(p)
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.link(c)
		c.unwatch()
	} else {
		c.becomeRoot()
	}
	return old, nil
}

// moveLedgers makes each ledger of the subtree that passes on to from do so to
// to, and moves what it passed on. At the first one for which there is no room it
// stops with an error; if force is set there always is.
func (c *Context) moveLedgers(from, to *ledger, force bool) error {
	for stack := []*Context{c}; len(stack) > 0; {
		k := len(stack) - 1
		x := stack[k]
		stack = stack[:k]
		x.mu.Lock()
		full := (*ledger)(nil)
		if x.ledger.up == from {
			full = x.ledger.move(to, force)
		}
		if !x.ledger.isBound() && full == nil { // below a bound one nothing changes
			for y := x.first; y != nil; y = y.next {
				stack = append(stack, y)
			}
		}
		x.mu.Unlock()
		if full != nil {
			return full.limitError(&x.ledger, int(x.ledger.totalBytes.Load()))
		}
	}
	return nil
}

// move passes on to another ledger what was passed on to up. It returns the
// ledger whose limit does not permit it, if there is one.
func (x *ledger) move(to *ledger, force bool) (full *ledger) {
	x.acct.Lock()
	defer x.acct.Unlock()
	n := x.passed()
	from := x.up
	x.up.pass(-n, true)
	if full = to.pass(n, force); full != nil {
		from.pass(n, true)
		return full
	}
	x.up = to
	return nil
}
