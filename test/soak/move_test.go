package soak_test

import (
	"errors"
	"slices"
	"strings"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// move gives a context another parent of the same tree.
func (a *actor) move(n *twin) {
	p := a.free[a.rng.IntN(len(a.free))]
	if n == a.top || n.usage.pinned.Load() > 0 {
		return
	}
	old := n.mc.Parent()
	err := a.setParent(n, p.mc)
	switch {
	case p.mc == old: // which changes nothing
	case p.isBelow(n):
		if err == nil {
			a.fail("%s moved below itself, to %s", n.path(), p.path())
		}
	case err != nil:
		if now := n.mc.Parent(); now != old {
			a.fail("%s did not move, but its parent is %s, not %s: %v", n.path(), now.Path(), old.Path(), err)
		}
		if e := (*arena.LimitError)(nil); !errors.As(err, &e) && !a.leased && !a.isCut() {
			a.fail("%s cannot be moved to %s: %v", n.path(), p.path(), err)
		}
		a.count(evRefusals)
	default:
		n.leave()
		a.arrive(n, p)
	}
}

// setParent moves a context, which panics if it was deleted above the actor's head.
// It ends parents that waited for the context alone.
func (a *actor) setParent(n *twin, p *memctx.Context) (err error) {
	try(func() {
		defer func() {
			switch v := recover().(type) {
			case nil:
			case string:
				if err = errors.New(v); !a.leased || !strings.Contains(v, "deleted context") {
					panic(v)
				}
			default:
				panic(v)
			}
		}()
		err = n.mc.SetParent(p)
	})
	return err
}

// arrive makes the model of a tree that was moved below p.
func (a *actor) arrive(n, p *twin) {
	a.count(evMoves)
	if now := n.mc.Parent(); now != p.mc {
		a.fail("%s has parent %s, want %s", n.path(), now.Path(), p.path())
	}
	n.join(p)
	unsure := !n.quiet()
	for _, x := range n.subtree() {
		if x.user == nil {
			x.links = nil
		} else {
			unsure = true // it counts leases where it was
		}
	}
	for ; p != nil; p = p.parent {
		p.unsure = p.unsure || unsure
		p.tainted = p.tainted || n.tainted
	}
}

// A gift is a tree without an owner: below the cache, or below nothing.
type gift struct {
	*actor // who looks after it meanwhile
}

// giveAway moves a tree out of the actor's own.
func (a *actor) giveAway(n *twin) {
	if a.level > 0 || n == a.top || n.usage.pinned.Load() > 0 {
		return
	}
	a.callOff(n)
	if slices.ContainsFunc(n.subtree(), func(x *twin) bool { return x.user != nil }) {
		return
	}
	g := gift{&actor{soak: a.soak, rng: a.rng, top: n}}
	if !g.shelve(n) {
		return
	}
	// Leases are out on the nodes at most, so drop leaves the tree whole.
	g.free = a.drop(n)
	g.rng = newRand(a.rng)
	for _, x := range g.free {
		x.below, x.links = nil, nil
	}
	a.w.put(g)
}

// shelve moves the tree below the cache, or makes it a root.
func (a *actor) shelve(n *twin) bool {
	p := a.cache
	if a.rng.IntN(2) == 0 {
		p = nil
	}
	if err := n.mc.SetParent(p); err != nil {
		a.mustBeLimit(err)
		return false
	}
	if now := n.mc.Parent(); now != p {
		a.fail("%s has parent %s, want %s", n.path(), now.Path(), p.Path())
	}
	return true
}

// visit verifies the tree, moves it, or ends it. At last somebody takes it into a
// tree of his own.
func (g gift) visit(w *worker, last bool) bool {
	defer g.complain()
	n, to := g.top, w.actor
	for range 4 {
		x := g.free[g.rng.IntN(len(g.free))]
		g.verify(g.rng, x, g.rng.IntN(8) == 0)
	}
	switch g.rng.IntN(6) {
	case 0:
		g.end(n)
		return true
	case 1:
		g.shelve(n)
	case 2, 3:
		if last || to.top == nil || len(to.free) >= maxTree {
			break
		}
		p := to.free[w.rng.IntN(len(to.free))]
		if err := n.mc.SetParent(p.mc); err != nil {
			g.mustBeLimit(err)
			break
		}
		to.arrive(n, p)
		to.free = append(to.free, g.free...)
		return true
	}
	if last {
		g.end(n)
	}
	return last
}
