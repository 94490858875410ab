package soak_test

import "slices"

// A zombie is a tree that was abandoned and is used all the same. None of its
// memory may serve others, also after Reset and Delete.
type zombie struct {
	top    *twin
	nodes  []*twin
	past   []value // from before a Reset
	visits int
	left   bool // Abandon has returned
}

// abandon leaves a context to the garbage collector.
func (a *actor) abandon(n *twin) {
	if a.leased || n == a.top && a.level > 0 || n.usage.pinned.Load() > 0 {
		return
	}
	a.callOff(n)
	for _, x := range n.subtree() {
		if x.user != nil {
			x.user.cut.Store(true)
		}
	}
	n.taint()
	z := &zombie{top: n, nodes: a.drop(n), left: true}
	for _, x := range z.nodes {
		x.links = nil // what is above may be used again
	}
	try(n.mc.Abandon)
	a.count(evAbandoned)
	a.zombies = append(a.zombies, z)
}

// visitZombie uses a tree that was abandoned.
func (a *actor) visitZombie(*twin) {
	if len(a.zombies) == 0 {
		return
	}
	i := a.rng.IntN(len(a.zombies))
	z := a.zombies[i]
	for range 4 {
		n := z.nodes[a.rng.IntN(len(z.nodes))]
		a.verify(a.rng, n, a.rng.IntN(4) == 0)
		switch a.rng.IntN(10) {
		case 0, 1, 2:
			a.write(n)
		case 3:
			a.hook(a.rng, n)
		case 4:
			if c := a.make(n); c != nil {
				c.join(n)
				z.nodes = append(z.nodes, c)
				a.write(c)
			}
		case 5:
			a.resetZombie(z, n)
		}
	}
	if z.visits++; z.visits > 4 || len(a.zombies) > 6 {
		a.zombies = slices.Delete(a.zombies, i, i+1)
		a.lay(z)
	}
}

// resetZombie does it to a context of the tree, whose values stay as they are.
func (a *actor) resetZombie(z *zombie, n *twin) {
	if len(z.past) > 4*maxValues || slices.ContainsFunc(n.subtree(), func(x *twin) bool { return x.user != nil }) {
		return
	}
	quiet := n.quiet()
	gone := n.subtree()[1:]
	z.nodes = slices.DeleteFunc(z.nodes, func(x *twin) bool { return slices.Contains(gone, x) })
	for _, x := range gone {
		x.below = x.children
		z.past = append(z.past, x.values...)
	}
	z.past = append(z.past, n.values...)
	n.below, n.children = nil, nil
	try(n.mc.Reset)
	a.mustHaveRun("Reset after Abandon", []*twin{n})
	if quiet {
		a.mustHaveRun("Reset of the parent after Abandon", gone)
	}
	n.forget()
}

// lay ends a zombie: with Delete, or without anything.
func (a *actor) lay(z *zombie) {
	past := &twin{id: z.top.id, mc: z.top.mc, values: z.past}
	a.verify(a.rng, past, true)
	for _, n := range z.nodes {
		a.verify(a.rng, n, true)
	}
	if !z.left || a.rng.IntN(2) == 0 {
		for _, n := range z.nodes {
			a.lose(n)
		}
		return
	}
	quiet := z.top.quiet()
	for _, n := range z.nodes {
		n.below = n.children
	}
	try(z.top.mc.Delete)
	a.verify(a.rng, past, true)
	if !quiet {
		return // somebody else runs some of the callbacks, now or later
	}
	a.mustHaveRun("Delete after Abandon", z.nodes)
	for _, n := range z.nodes {
		a.verify(a.rng, n, true)
	}
}

// bury ends all zombies.
func (a *actor) bury() {
	for _, z := range a.zombies {
		a.lay(z)
	}
	a.zombies = nil
}
