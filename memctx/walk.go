package memctx

import (
	"cmp"
	"iter"
	"slices"
)

// Walk calls f for the context, at depth 0, and for all below it, each parent
// before its children, and older children first. Where f returns false Walk
// leaves out what is below. It sees the children that a context has when their
// turn comes, and no lock is held while f runs, so f may do what it likes; what
// it is given may have ended in the meantime. Walk may be called from any
// goroutine. On a nil Context it does nothing.
func (mc *Context) Walk(f func(mc *Context, depth int) bool) {
	mc.ref().walk(func(x ref, depth int) bool {
		if depth == 0 {
			return f(mc, 0)
		}
		return f(x.public(), depth)
	})
}

func (c ref) walk(f func(c ref, depth int) bool) {
	if c.node == nil {
		return
	}
	type place struct {
		c     ref
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
		if x.c.holds() {
			for y := x.c.first; y != nil; y = y.next { // the last one made in front
				stack = append(stack, place{y.handle(), x.depth + 1})
			}
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
		for c := range rootRefs() {
			if !yield(c.public()) {
				return
			}
		}
	}
}

func rootRefs() iter.Seq[ref] {
	return func(yield func(ref) bool) {
		type root struct {
			c     ref
			order uint64
		}
		var list []root
		for n := range roots.All() {
			n.mu.Lock()
			list = append(list, root{n.handle(), n.watch.order})
			n.mu.Unlock()
		}
		slices.SortFunc(list, func(a, b root) int { return cmp.Compare(a.order, b.order) })
		for _, r := range list {
			if r.c.isRoot() && !yield(r.c) {
				return
			}
		}
	}
}

// isRoot reports whether the context is at the top of a tree.
func (c ref) isRoot() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds() && !c.forsaken && !c.is(gone) && c.parent.Load() == nil
}
