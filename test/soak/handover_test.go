package soak_test

import (
	"runtime"
	"sync/atomic"
)

// A handover is the state of a context that was handed to another actor.
type handover struct {
	actor *actor
	state atomic.Int32
	busy  atomic.Bool // somebody visits it now
	cut   atomic.Bool // it may be abandoned
	left  atomic.Bool // Abandon has returned
	outer *handover   // of the actor who did it

	chain  []*usage // of a lease
	pinned bool
	visits int
}

const (
	atWork    = iota
	finished  // by the actor to which it was handed
	calledOff // by the one who did it
)

// isCut reports whether the actor's contexts may be abandoned.
func (a *actor) isCut() bool {
	for h := a.given; h != nil; h = h.outer {
		if h.cut.Load() {
			return true
		}
	}
	return false
}

// handOver makes a context below n and has another actor use it: one of the
// second kind, or one of the third.
func (a *actor) handOver(n *twin, leased bool) {
	if a.level == 2 || a.leased && !leased {
		return
	}
	top := a.make(n)
	if top == nil {
		return
	}
	if leased && !a.leased {
		top.lease = top.mc.Retain()
	}
	h := &handover{outer: a.given, visits: 1 + a.rng.IntN(6)}
	// What stands for it in the tree of who hands it over.
	place := &twin{mc: top.mc, id: top.id, name: top.name, limit: top.limit, reserve: top.reserve, usage: top.usage, user: h}
	if leased {
		h.chain = a.chain(n)
		if h.pinned = a.rng.IntN(2) == 0; h.pinned {
			for range a.rng.IntN(10) {
				a.add(a.rng, top, a.target(n))
			}
		}
		l := loan{chain: append(h.chain, top.usage), pinned: h.pinned}
		h.chain = l.chain
		l.take()
	}
	place.join(n)
	h.actor = &actor{
		soak: a.soak, rng: newRand(a.rng), level: a.level + 1, top: top, free: []*twin{top},
		above: a.chain(n), given: h, leased: leased,
	}
	a.w.put(h)
}

// visit has the actor do some steps. Now and then it panics, as handlers do.
func (h *handover) visit(w *worker, last bool) bool {
	a := h.actor
	a.w = w
	defer a.complain()
	h.busy.Store(true)
	defer h.busy.Store(false)
	h.visits--
	if !last {
		panicked := try(func() {
			for range 10 + a.rng.IntN(50) {
				a.step()
			}
			if a.rng.IntN(32) == 0 {
				a.count(evPanics)
				panic(planted{"of a worker"})
			}
		})
		if !panicked && h.visits > 0 {
			return false
		}
	}
	if a.leased {
		h.giveBack()
		return true
	}
	if h.state.CompareAndSwap(atWork, finished) {
		return true // and who handed it over has it again
	}
	a.count(evLate)
	a.callOff(a.top)
	z := &zombie{top: a.top, left: h.left.Load()}
	z.nodes = a.drop(a.top)
	for _, n := range z.nodes {
		n.links = nil
		a.verify(a.rng, n, true)
	}
	a.zombies = append(a.zombies, z)
	a.bury()
	return true
}

// giveBack ends what an actor of the second kind was given.
func (h *handover) giveBack() {
	a := h.actor
	a.callOff(a.top)
	for i := len(a.top.children) - 1; i >= 0; i-- {
		if c := a.top.children[i]; c.user == nil {
			a.end(c)
		}
	}
	a.verify(a.rng, a.top, true)
	a.bury()
	top := a.top
	a.drop(top)
	if top.usage.leases.Load() > 1 {
		top.links = nil
	}
	if h.state.CompareAndSwap(atWork, finished) {
		try(top.mc.Delete)
	}
	l := loan{n: top, give: top.lease, chain: h.chain, pinned: h.pinned}
	l.giveBack()
}

// await waits a moment for somebody to be at work, so that what comes next meets
// with it.
func (h *handover) await() {
	for i := 0; i < 50 && !h.busy.Load() && h.state.Load() == atWork; i++ {
		runtime.Gosched()
	}
}

// collect takes note of what was handed over and is finished.
func (a *actor) collect() {
	if a.top == nil || a.rng.IntN(16) > 0 {
		return
	}
	for _, x := range a.top.subtree() {
		if x.user != nil && x.user.state.Load() == finished {
			a.takeBack(x)
		}
	}
}

// takeBack is for a context that was handed over and is finished. One that was
// handed over without a lease belongs to a's tree again, with all below it.
func (a *actor) takeBack(x *twin) {
	p, b := x.parent, x.user.actor
	if b.leased {
		x.leave()
		return
	}
	x.replace(b.top)
	a.free = append(a.free, b.free...)
	a.zombies = append(a.zombies, b.zombies...)
	if b.top.tainted {
		p.taint()
	}
	if b.top.unsure {
		for ; p != nil; p = p.parent {
			p.unsure = true
		}
	}
}

// callOff ends, below n, what was handed over: what is finished is taken back;
// contexts without a lease are abandoned, whatever is done in them at the moment;
// some of those with a lease are deleted, and the others left for later.
func (a *actor) callOff(n *twin) {
	for {
		var open []*twin
		for _, x := range n.subtree() {
			if x.user != nil && (x.user.state.Load() == finished || x.user.chain == nil || a.rng.IntN(2) == 0) {
				open = append(open, x)
			}
		}
		for _, x := range open {
			h := x.user
			h.await()
			switch {
			case h.chain == nil:
				h.cut.Store(true)
				if !h.state.CompareAndSwap(atWork, calledOff) {
					a.takeBack(x)
					break
				}
				x.parent.taint()
				x.leave()
				try(x.mc.Abandon)
				h.left.Store(true)
				a.count(evTimeouts)
			default:
				a.cancel(x)
			}
		}
		if len(open) == 0 { // what was taken back may have some
			return
		}
	}
}

// cancel deletes a context that was handed over with a lease. Where it may have
// been deleted above a's head, a needs a lease as well.
func (a *actor) cancel(x *twin) {
	var release func()
	if a.leased {
		release = retain(x.mc)
	}
	if !x.user.state.CompareAndSwap(atWork, calledOff) {
		a.takeBack(x)
	} else {
		x.leave()
		if release != nil || !a.leased {
			try(x.mc.Delete)
		}
		a.count(evTimeouts)
	}
	if release != nil {
		try(release)
	}
}
