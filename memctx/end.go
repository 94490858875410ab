package memctx

import (
	"sync"

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
// arenas costs. It does nothing on a nil context, nor on one that ended with its
// parent and is held by a lease. It panics if the context was deleted before.
func (c *Context) Delete() {
	if c == nil {
		return
	}
	c.mu.Lock()
	if c.leases == 0 && c.calling { // while a lease is out, its holder's callbacks may run
		c.mu.Unlock()
		c.notInCallback("Delete")
	}
	switch c.state.Load() {
	case live, abandoned:
	case ended:
		if c.leases > 0 {
			c.mu.Unlock()
			return
		}
		fallthrough
	default:
		c.mu.Unlock()
		c.unusable("Delete")
	}
	c.delete()
}

// delete ends c, which is live or abandoned, and all below it. c.mu is held.
func (c *Context) delete() {
	if c.children == 0 && c.leases == 0 {
		// The common case, a request: nothing to walk.
		c.state.Store(ending)
		c.mu.Unlock()
		c.finish(nil)
		return
	}
	c.mu.Unlock()
	t := c.end(true)
	t.run()
}

// A member is a context of a subtree that was gone through.
type member struct {
	c      *Context
	parent int  // its parent's place in the list; -1: not in it
	kept   bool // ended before, and waits for a lease, or is below one that does
}

// members calls f with mu held for c, if self is set, and for all below it that
// have not come to their end, and returns them with each parent before its
// children and what was made first in front. The caller holds structure.
func (c *Context) members(self bool, f func(*Context)) []member {
	var list []member
	for stack := []member{{c: c, parent: -1}}; len(stack) > 0; {
		k := len(stack) - 1
		m := stack[k]
		stack = stack[:k]
		at := -1
		m.c.mu.Lock()
		m.kept = m.kept || m.c != c && m.c.state.Load() == ended
		if (self || m.c != c) && m.c.state.Load() <= ended {
			at = len(list)
			list = append(list, m)
			f(m.c)
		}
		for y := m.c.first; y != nil; y = y.next { // the last one made in front
			stack = append(stack, member{y, at, m.kept})
		}
		m.c.mu.Unlock()
	}
	return list
}

// end marks all below c as ended, and c if self is set.
func (c *Context) end(self bool) teardown {
	structure.Lock()
	defer structure.Unlock()
	var t teardown
	for _, m := range c.members(self, func(x *Context) { x.state.Store(ended) }) {
		t.list = append(t.list, m.c)
	}
	return t
}

// A teardown is a list of contexts to end, the last one first.
type teardown struct{ list []*Context }

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
		if c.claim() {
			c.finish(t)
		}
	}
}

// claim makes the caller the one who ends c, if nothing holds it any more.
func (c *Context) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Load() != ended || c.leases > 0 || c.children > 0 {
		return false
	}
	c.state.Store(ending)
	return true
}

// finish ends a claimed context, and in t, or if there is none by itself, those
// above that waited for it.
func (c *Context) finish(t *teardown) {
	if len(c.callbacks) > 0 {
		defer c.close(t)
		c.runCallbacks()
		return
	}
	c.close(t)
}

// close gives the context's memory back and takes it out of the tree, in this
// order: callbacks of the arena's own see the memory of those above intact.
func (c *Context) close(t *teardown) {
	c.mu.Lock()
	a, untyped, forsaken, spared := c.arena, c.untyped, c.forsaken, c.spared
	c.arena, c.untyped = nil, nil
	c.state.Store(gone)
	c.unwatch()
	c.mu.Unlock()
	if a != nil || untyped != nil {
		raise(&c.kind.peak, c.ledger.peak.Load())
	}
	if untyped != nil {
		account.EndBump(untyped)
	}
	if a != nil {
		account.Attach(a, nil, nil)
	}
	c.ledger.close()
	if !forsaken {
		c.kind.deleted.Add(1)
	}
	if a == nil {
		c.leave(t)
		return
	}
	defer c.leave(t)
	if forsaken || holds(a, spared) {
		a.Free()
	} else {
		c.kind.pool.Put(a)
	}
}

// leave takes the context out of the tree, and ends those above that waited for it
// alone.
func (c *Context) leave(t *teardown) {
	p := c.unlink()
	if p == nil || p.state.Load() != ended {
		return
	}
	if t != nil {
		t.list = append(t.list, p)
		return
	}
	t = &teardown{list: []*Context{p}}
	t.run()
}

// runCallbacks runs those of OnReset, the last one first. Each is taken off
// before it runs, so that the rest can run when it panics.
func (c *Context) runCallbacks() {
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
func (c *Context) notInCallback(op string) {
	if c.calling {
		panic("memctx: " + op + " inside an OnReset callback of " + c.Path())
	}
}

// Reset ends all contexts below, runs the callbacks, and takes back everything
// allocated in the context's arena, which stays the same and keeps its memory as
// [arena.Arena.Reset] does. If a lease holds the context or one below it, what
// was allocated stays as it is for as long as anything refers to it, and the
// arena goes on with new memory. On a nil context it does nothing. It panics
// after Delete.
func (c *Context) Reset() {
	if c == nil {
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
// alone contexts that ended and are held by a lease, with what was made below them. On a nil
// context it does nothing. It panics after Delete.
func (c *Context) ResetChildren() {
	if c == nil {
		return
	}
	c.mustBeUsable("ResetChildren")
	c.notInCallback("ResetChildren")
	defer c.watchHeld()
	structure.Lock()
	list := c.members(false, func(*Context) {})
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
		held = held || m.kept || m.c.leases > 0
		m.c.mu.Unlock()
		if held && m.parent >= 0 {
			r.held[m.parent] = true
		}
	}()
	if !m.kept && m.c.state.Load() < ended {
		m.c.resetOwn(held)
	}
}

// resetOwn resets a context without those below it; held says that a lease holds
// one of those.
func (c *Context) resetOwn(held bool) {
	if len(c.callbacks) > 0 {
		defer c.resetMemory(held)
		c.runCallbacks()
		return
	}
	c.resetMemory(held)
}

func (c *Context) resetMemory(held bool) {
	c.resets.Add(1)
	if c.arena == nil && c.untyped == nil {
		return
	}
	c.watchGrowth()
	if c.untyped != nil {
		account.LeaveBump(c.untyped)
	}
	if c.arena == nil {
		return
	}
	c.mu.Lock()
	held = held || c.leases > 0 || c.forsaken || holds(c.arena, c.spared)
	c.spared = nil
	c.mu.Unlock()
	done := false
	defer func() {
		if !done { // a callback of the arena's own panicked; the others ran
			c.rewind(held)
		}
	}()
	c.rewind(held)
	done = true
}

// rewind takes back what the arena handed out, or leaves it as it is.
func (c *Context) rewind(held bool) {
	if held {
		account.Leave(c.arena)
	} else {
		c.arena.Reset()
	}
}
