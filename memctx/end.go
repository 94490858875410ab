package memctx

import (
	"sync"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
)

// The end of contexts. A subtree ends in two steps. The first marks all of it as
// ended, parents first, so that nobody makes children there any more; the second
// goes through it from behind, so that children end before their parents and what
// was made last ends first. A context that a lease holds is left out, and so are
// those above it, since they have a child still: whoever gives the last lease
// back goes on from there, upwards.
//
// Callbacks may panic, and the rest must run all the same: each step takes what
// it does off its list first and goes on in a deferred call. Nothing recurses, so
// a tree may be as deep as it likes.

// structure makes those exclude each other who mark whole subtrees and who move
// them. Contexts without children come and go without it.
var structure sync.Mutex

// Delete ends the context and all below it: it runs the callbacks of OnReset,
// those of the contexts below first, and gives the memory back to the contexts of
// the same name that come, except what a lease holds (see [Context.Retain]) and
// what was abandoned. Its cost is the number of contexts, and what Reset of their
// arenas costs. It does nothing on a nil Context, nor on one that ended with its
// parent and is held by a lease. It panics if the context was deleted before.
func (mc *Context) Delete() {
	c := mc.ref()
	if c.node == nil {
		return
	}
	c.mu.Lock()
	switch {
	case c.holds() && c.leases == 0 && c.calling: // while a lease is out, its holder's callbacks may run
		c.mu.Unlock()
		c.notInCallback("Delete")
	case c.is(live), c.is(abandoned):
		c.delete()
		return
	case c.is(ended) && c.leases > 0:
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.unusable("Delete")
}

// delete ends c, which is live or abandoned, and all below it. c.mu is held.
func (c ref) delete() {
	if c.children == 0 && c.leases == 0 {
		// The common case, a request: nothing to walk.
		c.finish(nil)
		return
	}
	c.mu.Unlock()
	t := c.end(true)
	t.run()
}

// A member is a context of a subtree that was gone through.
type member struct {
	c      ref
	parent int  // its parent's place in the list; -1: not in it
	kept   bool // ended before, and waits for a lease, or is below one that does
}

// members calls f with mu held for c, if self is set, and for all below it that
// have not come to their end, and returns them with each parent before its
// children and what was made first in front. The caller holds structure.
func (c ref) members(self bool, f func(*node)) []member {
	var list []member
	for stack := []member{{c: c, parent: -1}}; len(stack) > 0; {
		k := len(stack) - 1
		m := stack[k]
		stack = stack[:k]
		at := -1
		m.c.mu.Lock()
		if !m.c.holds() { // it has come to its end meanwhile
			m.c.mu.Unlock()
			continue
		}
		m.kept = m.kept || m.c != c && m.c.is(ended)
		if (self || m.c != c) && m.c.state() <= ended {
			at = len(list)
			list = append(list, m)
			f(m.c.node)
		}
		for y := m.c.first; y != nil; y = y.next { // the last one made in front
			stack = append(stack, member{y.handle(), at, m.kept})
		}
		m.c.mu.Unlock()
	}
	return list
}

// end marks all below c as ended, and c if self is set.
func (c ref) end(self bool) teardown {
	structure.Lock()
	defer structure.Unlock()
	var t teardown
	for _, m := range c.members(self, func(x *node) { x.become(ended) }) {
		t.list = append(t.list, m.c)
	}
	return t
}

// A teardown is a list of contexts to end, the last one first.
type teardown struct{ list []ref }

func (t *teardown) run() {
	defer func() {
		if len(t.list) > 0 { // a callback panicked
			t.run()
		}
	}()
	for len(t.list) > 0 {
		k := len(t.list) - 1
		c := t.list[k]
		t.list = t.list[:k]
		c.endUnheld(t)
	}
}

// endUnheld ends c, if it is deleted and nothing holds it any more.
func (c ref) endUnheld(t *teardown) {
	c.mu.Lock()
	if !c.is(ended) || c.leases > 0 || c.children > 0 {
		c.mu.Unlock()
		return
	}
	c.finish(t)
}

// finish ends a context that is the caller's to end, and in t, or if there is none by
// itself, those above that waited for it. c.mu is held.
func (c *node) finish(t *teardown) {
	if len(c.callbacks) > 0 {
		c.become(ending)
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			c.close(t)
		}()
		c.runCallbacks()
		return
	}
	c.close(t)
}

// close gives the context's memory back and takes it out of the tree, in this
// order: callbacks of the arena's own see the memory of those above intact. c.mu is held.
func (c *node) close(t *teardown) {
	a, untyped, forsaken, spared := c.arena.Load(), c.untyped, c.forsaken, c.spared
	if a != nil {
		c.arena.Store(nil)
	}
	c.untyped, c.spared = nil, nil
	c.become(gone)
	c.unwatch()
	if a != nil {
		c.ledger.attach(a, nil, nil)
	}
	c.mu.Unlock()
	if untyped != nil {
		account.EndBump(untyped)
	}
	c.ledger.close()
	if a == nil {
		c.leave(t)
		return
	}
	defer c.leave(t)
	if forsaken || lieIn(a, spared) {
		a.Free()
	} else {
		c.kind.pool.Put(a)
	}
}

// leave takes the context out of the tree, gives its node away, and ends those above that
// waited for it alone.
func (c *node) leave(t *teardown) {
	p := c.unlink()
	c.retire()
	if p.node == nil || !p.is(ended) {
		return
	}
	if t != nil {
		t.list = append(t.list, p)
		return
	}
	t = &teardown{list: []ref{p}}
	t.run()
}

// runCallbacks runs those of OnReset, the last one first. Each is taken off
// before it runs, so that the rest can run when it panics.
func (c *node) runCallbacks() {
	c.calling = true
	defer func() {
		c.calling = false
		if len(c.callbacks) > 0 { // one panicked
			c.runCallbacks()
		}
	}()
	for len(c.callbacks) > 0 {
		k := len(c.callbacks) - 1
		f := c.callbacks[k]
		c.callbacks[k] = nil
		c.callbacks = c.callbacks[:k]
		f()
	}
}

// notInCallback panics if a callback of the context is running.
func (c *node) notInCallback(op string) {
	if c.calling {
		panic("memctx: " + op + " inside an OnReset callback of " + c.handle().path())
	}
}

// Reset ends all contexts below, runs the callbacks, and takes back everything
// allocated in the context's arena, which stays the same and keeps its memory as
// [arena.Arena.Reset] does. If a lease holds the context or one below it, what
// was allocated stays as it is for as long as anything refers to it, and the
// arena goes on with new memory. On a nil Context it does nothing. It panics
// after Delete.
func (mc *Context) Reset() {
	c := mc.ref()
	if c.node == nil {
		return
	}
	c.mustBeUsable("Reset")
	c.notInCallback("Reset")
	c.mu.Lock()
	children := c.children
	c.mu.Unlock()
	if children == 0 {
		c.resetOwn(false)
		return
	}
	defer func() {
		c.watchHeld()
		c.mu.Lock()
		held := c.children > 0
		c.mu.Unlock()
		c.resetOwn(held)
	}()
	t := c.end(false)
	t.run()
}

// ResetChildren takes back what was allocated in the contexts below, which stay, as Reset of each
// of them would: children before parents, what was made last first, callbacks and all. It leaves
// alone contexts that ended and are held by a lease, with what was made below them. On the zero
// Context it does nothing. It panics after Delete.
func (mc *Context) ResetChildren() {
	c := mc.ref()
	if c.node == nil {
		return
	}
	c.mustBeUsable("ResetChildren")
	c.notInCallback("ResetChildren")
	defer c.watchHeld()
	structure.Lock()
	list := c.members(false, func(*node) {})
	structure.Unlock()
	r := resets{list, make([]bool, len(list))}
	r.run()
}

// resets is a list of contexts to reset, the last one first, and whether a lease
// holds one below it.
type resets struct {
	list []member
	held []bool
}

func (r *resets) run() {
	defer func() {
		if len(r.list) > 0 { // a callback panicked
			r.run()
		}
	}()
	for len(r.list) > 0 {
		k := len(r.list) - 1
		m := r.list[k]
		r.list = r.list[:k]
		r.reset(m, r.held[k])
	}
}

func (r *resets) reset(m member, held bool) {
	defer func() { // a callback may have taken a lease
		m.c.mu.Lock()
		held = held || m.kept || m.c.holds() && m.c.leases > 0
		m.c.mu.Unlock()
		if held && m.parent >= 0 {
			r.held[m.parent] = true
		}
	}()
	if !m.kept && (m.c.is(live) || m.c.is(abandoned)) {
		m.c.resetOwn(held)
	}
}

// resetOwn resets a context without those below it; held says that a lease holds
// one of those.
func (c *node) resetOwn(held bool) {
	if len(c.callbacks) > 0 {
		defer c.resetMemory(held)
		c.runCallbacks()
		return
	}
	c.resetMemory(held)
}

func (c *node) resetMemory(held bool) {
	c.mu.Lock()
	c.resets++
	c.mu.Unlock()
	a := c.arena.Load()
	if a == nil && c.untyped == nil {
		return
	}
	c.watchGrowth()
	if c.untyped != nil {
		account.LeaveBump(c.untyped)
	}
	if a == nil {
		return
	}
	c.mu.Lock()
	held = held || c.leases > 0 || c.forsaken || lieIn(a, c.spared)
	c.spared = nil
	c.mu.Unlock()
	done := false
	defer func() {
		if !done { // a callback of the arena's own panicked; the others ran
			rewind(a, held)
		}
	}()
	rewind(a, held)
	done = true
}

// rewind takes back what the arena handed out, or leaves it as it is.
func rewind(a *arena.Arena, held bool) {
	if held {
		account.Leave(a)
	} else {
		a.Reset()
	}
}
