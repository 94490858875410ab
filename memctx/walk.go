package memctx

import "iter"

// Walk calls f for the context, at depth 0, and for all below it, each parent
// before its children, and older children first. Where f returns false Walk
// leaves out what is below. It sees the children that a context has when their
// turn comes, and no lock is held while f runs, so f may do what it likes; what
// it is given may have ended in the meantime. Walk may be called from any
// goroutine. On a nil context it does nothing.
func (c *Context) Walk(f func(c *Context, depth int) bool) {
	if c == nil {
		return
	}
	type place struct {
		c     *Context
		depth int
	}
	for stack := []place{{c, 0}}; len(stack) > 0; {
		k := len(stack) - 1
		x := stack[k]
		stack = stack[:k]
		if !f(x.c, x.depth) {
			continue
		}
		x.c.mu.Lock()
		for y := x.c.first; y != nil; y = y.next { // the last one made in front
			stack = append(stack, place{y, x.depth + 1})
		}
		x.c.mu.Unlock()
	}
}

// Roots returns the contexts without a parent, in the order in which they were
// made: those that were neither deleted nor abandoned, and deleted ones that a
// lease holds. The list keeps none of them alive. A loop sees those there are
// when it begins.
func Roots() iter.Seq[*Context] {
	return func(yield func(*Context) bool) {
		for c := range roots.All() {
			if c.inTree() && c.parent.Load() == nil && !yield(c) {
				return
			}
		}
	}
}

// inTree reports whether the context has a place in a tree.
func (c *Context) inTree() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.forsaken && c.state.Load() != gone
}
