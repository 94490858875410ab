package soak_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// Actors meet by chance, and rarely in the few instructions in which two of them
// could do harm. In a duel two goroutines begin at the same moment.

// duels are the kinds there are.
var duels = []func(*actor, *twin){
	(*actor).duelOfLeases, (*actor).duelOfHolder, (*actor).duelOfAbandon, (*actor).duelOfParents, (*actor).duelOfLedgers,
}

// duel has one below a context, and leaves nothing there. It is for actors of the
// first kind.
func (a *actor) duel() {
	if a.top != nil && len(a.free)+4 <= maxTree {
		duels[a.rng.IntN(len(duels))](a, a.free[a.rng.IntN(len(a.free))])
	}
}

// together runs each function in a goroutine of its own.
func (a *actor) together(fs ...func()) {
	var ready atomic.Int32
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer a.absorb()
			defer a.complain()
			ready.Add(1)
			for i := 0; int(ready.Load()) < len(fs); i++ {
				if i%64 == 63 {
					runtime.Gosched()
				}
			}
			try(f)
		}()
	}
	wg.Wait()
	a.count(evDuels)
	if a.err.Load() != nil {
		panic(failed{})
	}
}

// stage makes contexts, each below the one before and the first below n, with
// values and callbacks. It returns nil if there is no room.
func (a *actor) stage(n *twin, how int) []*twin {
	var list []*twin
	for range how {
		x := a.make(n)
		if x == nil {
			if len(list) > 0 {
				try(list[0].mc.Delete)
			}
			return nil
		}
		for range a.rng.IntN(4) {
			a.add(a.rng, x, nil)
		}
		list = append(list, x)
		n = x
	}
	for _, x := range list {
		for range a.rng.IntN(3) {
			a.hook(a.rng, x)
		}
	}
	for i, x := range list[:how-1] {
		x.below = list[i+1 : i+2]
	}
	return list
}

// duelOfLeases gives back all leases of a context while it, or its parent, is
// deleted. Whoever is last ends it.
func (a *actor) duelOfLeases(n *twin) {
	list := a.stage(n, 2)
	if list == nil {
		return
	}
	p, c := list[0], list[1]
	end := []*twin{p, c}[a.rng.IntN(2)]
	fs := []func(){end.mc.Delete}
	for range 1 + a.rng.IntN(3) {
		release := c.mc.Retain()
		fs = append(fs, func() {
			c.mc.Retain()()
			release()
			release() // which does nothing
		})
	}
	a.together(fs...)
	a.mustHaveRun("Delete and Release", []*twin{c})
	a.mustBeGone(c.mc)
	if end != p {
		p.below = nil
		try(p.mc.Delete)
	}
	a.mustHaveRun("Delete and Release", list)
	a.mustBeGone(p.mc)
}

// duelOfHolder uses a context with a lease while it, or its parent, is deleted or
// reset.
func (a *actor) duelOfHolder(n *twin) {
	list := a.stage(n, 2)
	if list == nil {
		return
	}
	p, c := list[0], list[1]
	end := a.rng.IntN(3)
	if end == 2 { // the parent's callbacks run while the context is held
		p.below = nil
	}
	release := c.mc.Retain()
	rng, done := newRand(a.rng), false
	a.together(func() {
		[]func(){p.mc.Delete, c.mc.Delete, p.mc.Reset}[end]()
	}, func() {
		for range rng.IntN(6) {
			switch rng.IntN(4) {
			case 0:
				a.verify(rng, c, true)
				a.add(rng, c, nil)
			case 1:
				a.hook(rng, c)
			case 2:
				try(c.mc.Reset)
				a.mustHaveRun("Reset", []*twin{c})
				c.forget()
			case 3:
				x := a.newTwin(rng)
				x.mc = c.mc.Child(x.name)
				if release := retain(x.mc); release != nil {
					a.add(rng, x, nil)
					a.verify(rng, x, true)
					try(x.mc.Delete)
					try(release)
				}
			}
		}
		a.verify(rng, c, true)
		done = true
		if end != 1 { // or the other one may have ended it before
			try(c.mc.Delete)
		}
		release()
	})
	if !done {
		a.fail("%s: its holder did not get to the end", c.path())
	}
	if end != 0 {
		p.below = nil
		try(p.mc.Delete)
	}
	a.mustHaveRun("Delete and Release", list)
	a.mustBeGone(c.mc)
	a.mustBeGone(p.mc)
}

// duelOfAbandon moves or deletes a context while one above it is abandoned.
func (a *actor) duelOfAbandon(n *twin) {
	list := a.stage(n, 3)
	if list == nil {
		return
	}
	n.taint()
	p, c, d := list[0], list[1], list[2]
	rng, way := newRand(a.rng), a.rng.IntN(4)
	a.together(p.mc.Abandon, func() {
		for range rng.IntN(3) {
			a.verify(rng, d, true)
			a.add(rng, d, nil)
			a.hook(rng, d)
		}
		switch way {
		case 0:
			if err := d.mc.SetParent(p.mc); err == nil {
				c.below = nil
			}
		case 1:
			try(d.mc.Reset)
			a.mustHaveRun("Reset", []*twin{d})
			d.forget()
		case 2:
			try(d.mc.Delete)
			a.mustHaveRun("Delete", []*twin{d})
			a.mustBeGone(d.mc)
		case 3:
			release := d.mc.Retain() // and so c waits for d
			try(c.mc.Delete)
			a.verify(rng, d, true)
			release()
		}
	})
	if way == 3 {
		a.mustHaveRun("Delete and Release", []*twin{c, d})
	}
	z := &zombie{top: p, nodes: []*twin{p}, left: true}
	if way < 3 {
		c.join(p)
		z.nodes = append(z.nodes, c)
	}
	if way < 2 {
		d.join(map[*memctx.Context]*twin{p.mc: p, c.mc: c}[d.mc.Parent()])
		z.nodes = append(z.nodes, d)
	}
	a.lay(z)
}

// duelOfParents moves each of two contexts below the other: one of them has to
// stay.
func (a *actor) duelOfParents(n *twin) {
	one, two := a.stage(n, 2), a.stage(n, 2)
	if one == nil || two == nil {
		for _, list := range [][]*twin{one, two} {
			if list != nil {
				try(list[0].mc.Delete)
			}
		}
		return
	}
	var errs [2]error
	a.together(
		func() { errs[0] = one[0].mc.SetParent(two[1].mc) },
		func() { errs[1] = two[0].mc.SetParent(one[1].mc) },
	)
	if errs[0] == nil && errs[1] == nil {
		a.fail("%d moved below %d, and %d below %d", one[0].id, two[1].id, two[0].id, one[1].id)
	}
	for i, x := range []*twin{one[0], two[0]} {
		want := []*twin{two[1], one[1]}[i].mc
		if errs[i] != nil {
			want = n.mc
		}
		if now := x.mc.Parent(); now != want {
			a.fail("%s: its parent is %s, want %s: %v", x.path(), now.Path(), want.Path(), errs[i])
		}
	}
	all := append(one, two...)
	if errs[0] != nil {
		try(one[0].mc.Delete)
	}
	if errs[1] != nil {
		try(two[0].mc.Delete)
	}
	a.mustHaveRun("Delete", all)
}

// duelOfLedgers moves a context to and fro between two limits while memory is
// taken and given back below it.
func (a *actor) duelOfLedgers(n *twin) {
	const limit = 64 << 10
	var q [2]*memctx.Context
	for i := range q {
		q[i] = n.mc.Child("soak-conn", memctx.Config{Limit: limit})
	}
	m := q[0].Child("soak-request")
	x := a.newTwin(a.rng)
	x.limit = a.rng.IntN(2) * limit / 2
	x.mc = m.Child(x.name, memctx.Config{Limit: x.limit})
	rng, moves := newRand(a.rng), 1+a.rng.IntN(5)
	a.together(func() {
		for i := range moves {
			if err := m.SetParent(q[(i+1)%2]); err != nil {
				if e := (*arena.LimitError)(nil); !errors.As(err, &e) {
					a.fail("%v, want a LimitError", err)
				}
			}
		}
	}, func() {
		for range 4 {
			for range rng.IntN(6) {
				a.add(rng, x, nil)
			}
			a.verify(rng, x, true)
			x.mc.Reset()
			x.forget()
		}
		a.add(rng, x, nil)
	})
	for _, c := range q {
		have, want := ledger(c, limit), 0
		if m.Parent() == c {
			want = x.mc.Arena().Stats().Reserved
		}
		if have != want {
			a.fail("the ledger of %s has %d bytes, want %d", c.Path(), have, want)
		}
		c.Delete()
	}
}
