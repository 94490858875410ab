package soak_test

import (
	"slices"
	"strings"

	"github.com/haven-mem/haven/memctx"
)

// drop takes n and what is below out of the tree, and returns the nodes that were
// not handed over. To those that were, what happened to them is no news.
func (a *actor) drop(n *twin) []*twin {
	var gone []*twin
	for _, x := range n.subtree() {
		if x.user == nil {
			gone = append(gone, x)
			x.below = x.children
			if !x.quiet() {
				x.links = nil // when its callbacks run, what is above may be another
			}
		}
	}
	if n.parent != nil {
		n.leave()
	}
	if n == a.top {
		a.top = nil
	}
	a.free = slices.DeleteFunc(a.free, func(x *twin) bool { return x.isBelow(n) })
	return gone
}

// delete ends a context with all below it. An actor that was given its tree
// leaves the top to the end.
func (a *actor) delete(n *twin) {
	if n == a.top && (a.level > 0 || a.rng.IntN(4) > 0) {
		return
	}
	a.end(n)
}

func (a *actor) end(n *twin) {
	a.callOff(n)
	mc, quiet := n.mc, n.quiet()
	gone := a.drop(n)
	try(mc.Delete)
	a.giveBack(gone)
	if quiet && !a.leased {
		a.mustHaveRun("Delete", gone)
		if a.rng.IntN(8) == 0 {
			a.mustBeGone(gone[a.rng.IntN(len(gone))].mc)
		}
	}
	if !quiet {
		a.count(evHeld)
	}
}

// giveBack gives back the leases that an actor of the second kind took, in any
// order. It also deletes what it made below contexts that were deleted above its
// head, which would stay otherwise. And it takes some away from a parent that may
// wait for nothing else.
func (a *actor) giveBack(gone []*twin) {
	if !a.leased {
		return
	}
	for _, i := range a.rng.Perm(len(gone)) {
		x := gone[i]
		if p := x.parent; p != nil && x.quiet() && len(x.children) == 0 && a.rng.IntN(4) == 0 {
			x.links = nil
			p.below = slices.DeleteFunc(slices.Clone(p.below), func(y *twin) bool { return y == x })
			a.setParent(x, nil)
		}
		try(x.mc.Delete)
		try(x.lease)
	}
}

// mustBeGone checks that a deleted context is not usable.
func (a *actor) mustBeGone(mc *memctx.Context) {
	a.count(evMisuses)
	for _, f := range []func(){
		func() { mc.Arena() }, func() { mc.Child("soak-query") }, mc.Reset, mc.ResetChildren, mc.Delete,
		func() { mc.Retain() }, mc.Abandon, func() { mc.OnReset(func() {}) }, func() { mc.SetParent(nil) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "memctx: ") {
					a.fail("a deleted context was used without a panic that says so, but with %q", text)
				}
			}()
			f()
		}()
	}
}

// reset takes back what is in a context and ends what is below.
func (a *actor) reset(n *twin) {
	a.callOff(n)
	quiet := n.quiet() && !a.leased
	if quiet {
		n.below = n.children
	}
	var gone []*twin
	for len(n.children) > 0 {
		gone = append(gone, a.drop(n.children[0])...)
	}
	try(n.mc.Reset)
	a.giveBack(gone)
	a.mustHaveRun("Reset", []*twin{n})
	if quiet {
		a.mustHaveRun("Reset of the parent", gone)
	}
	n.below = nil
	n.forget()
}

// resetChildren is not for a tree in which somebody else is at work, nor for one
// that may have been deleted above the actor's head: what is deleted stays as it
// is.
func (a *actor) resetChildren(n *twin) {
	list := n.subtree()
	if a.leased {
		return
	}
	for _, x := range list {
		if x.user != nil || x.usage.makers.Load() > 0 {
			return
		}
	}
	for _, x := range list[1:] {
		x.below = x.children
	}
	try(n.mc.ResetChildren)
	a.mustHaveRun("ResetChildren", list[1:])
	for _, x := range list[1:] {
		x.below = nil
		x.forget()
	}
}
