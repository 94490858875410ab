package soak_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// A twin is a context, where it should be in its tree, and what should be in it.
// It belongs to the actor in whose tree it is, or to the one it was handed to.
type twin struct {
	mc       *memctx.Context
	id       uint64
	name     string
	limit    int
	reserve  int
	parent   *twin // nil for the top of an actor's tree
	children []*twin

	values []value // since the last Reset; never changed in place, for others have parts of it
	cells  []*cell // those among values
	links  []link  // from cells to contexts above

	hooks []*hook // callbacks of the context that are yet to run
	low   []*hook // those of its arena
	below []*twin // those whose callbacks must run before

	usage   *usage
	unsure  bool      // others may have leases below that usage does not count
	tainted bool      // abandoned contexts may have a part of its limit
	lease   func()    // gives the actor's lease back, if it has one
	user    *handover // whom it was handed to: then nothing but names and places above is known
}

// usage counts what others do with a context and with those below it.
type usage struct {
	leases atomic.Int64
	pinned atomic.Int64 // of those, by somebody who follows links to contexts above
	makers atomic.Int64 // by somebody who makes contexts in this one, those below not counted
}

// subtree lists n and all below it, parents first, as Walk does.
func (n *twin) subtree() []*twin {
	list := []*twin{n}
	for _, c := range n.children {
		list = append(list, c.subtree()...)
	}
	return list
}

// replace puts another twin in n's place.
func (n *twin) replace(by *twin) {
	p := n.parent
	p.children = slices.Clone(p.children)
	p.children[slices.Index(p.children, n)] = by
	n.parent, by.parent = nil, p
}

func (n *twin) isBelow(top *twin) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// join makes n the last child of p.
func (n *twin) join(p *twin) {
	n.parent = p
	p.children = append(p.children, n)
}

// leave takes n out of its parent's children.
func (n *twin) leave() {
	p := n.parent
	i := slices.Index(p.children, n)
	p.children = slices.Delete(slices.Clone(p.children), i, i+1)
	n.parent = nil
}

// quiet reports whether nobody else has a lease at n or below.
func (n *twin) quiet() bool { return n.usage.leases.Load() == 0 && !n.unsure }

// taint notes that n and those above may have paid for abandoned contexts.
func (n *twin) taint() {
	for ; n != nil; n = n.parent {
		n.tainted = true
	}
}

// forget makes the model that of a context after Reset.
func (n *twin) forget() { n.values, n.cells, n.links = nil, nil, nil }

// path names the twin in complaints.
func (n *twin) path() string { return fmt.Sprintf("context %d (%s)", n.id, n.mc.Path()) }

// add writes a value into the context, unless a limit prevents it.
func (s *soak) add(rng *rand.Rand, n *twin, over *cell) bool {
	v, full, err := write(rng, n.mc.Arena(), n.cells, over)
	if err != nil {
		s.fail("%s: %v", n.path(), err)
	}
	if full != nil {
		s.checkRefusal(n, full)
		return false
	}
	n.values = append(n.values, v)
	if v.cell != nil {
		n.cells = append(n.cells, v.cell)
		if over != nil {
			n.links = append(n.links, link{v.cell, over, over.seed})
		}
	}
	s.count(evValues)
	return true
}

// checkRefusal looks at an error that a limit at n or above gave.
func (s *soak) checkRefusal(n *twin, e *arena.LimitError) {
	s.count(evRefusals)
	if !errors.Is(e, arena.ErrLimit) || e.Requested <= 0 || e.Limit <= 0 || len(e.Chain) == 0 || e.Chain[0].Limit != n.limit {
		s.fail("%s with limit %d: %v: %+v", n.path(), n.limit, e, *e)
	}
	if e.Used < 0 || e.Used > e.Limit {
		s.fail("%s: the limit did not hold: %v", n.path(), e)
	}
}

// verify reads a few values of the twin, or all.
func (s *soak) verify(rng *rand.Rand, n *twin, all bool) {
	s.verifyValues(rng, n, n.values, n.links, all)
}

func (s *soak) verifyValues(rng *rand.Rand, n *twin, values []value, links []link, all bool) {
	each(rng, values, all, func(v *value) {
		if err := v.verify(); err != nil {
			s.fail("%s: %v", n.path(), err)
		}
	})
	each(rng, links, all, func(l *link) {
		if err := l.verify(); err != nil {
			s.fail("%s: %v", n.path(), err)
		}
	})
}

// each calls f for a few elements, or for all.
func each[T any](rng *rand.Rand, list []T, all bool, f func(*T)) {
	if all {
		for i := range list {
			f(&list[i])
		}
	} else if len(list) > 0 {
		for range 4 {
			f(&list[rng.IntN(len(list))])
		}
	}
}

// newTwin returns a twin for a context that is yet to be made.
func (s *soak) newTwin(rng *rand.Rand) *twin {
	return &twin{id: s.ids.Add(1), name: names[rng.IntN(len(names))], usage: new(usage)}
}

// A hook is a callback, of a context or of its arena.
type hook struct {
	s      *soak
	n      *twin
	seed   uint64
	low    bool   // of the arena
	panics bool   // and the others must run all the same
	extra  func() // ends a context that only the callback ends
	ran    bool
}

// A planted panic is one that the test makes.
type planted struct{ string }

// hook registers a callback.
func (s *soak) hook(rng *rand.Rand, n *twin) {
	h := &hook{s: s, n: n, seed: rng.Uint64(), low: rng.IntN(4) == 0, panics: rng.IntN(8) == 0}
	s.pending.Add(1)
	if h.low {
		n.low = append(n.low, h)
		n.mc.Arena().OnReset(h.run)
		return
	}
	if rng.IntN(8) == 0 {
		extra := s.server.Child(names[rng.IntN(len(names))])
		h.extra = extra.Retain()
		extra.Delete()
	}
	n.hooks = append(n.hooks, h)
	n.mc.OnReset(h.run)
}

// run is the callback: everything must be as it was, what is below must have come
// to its end, and what was registered later must have run.
func (h *hook) run() {
	s, n := h.s, h.n
	rng := rand.New(rand.NewPCG(h.seed, 0))
	list := &n.hooks
	if h.low {
		if list = &n.low; len(n.hooks) > 0 {
			s.fail("%s: callbacks of the arena run before %d of the context", n.path(), len(n.hooks))
		}
	}
	last := len(*list) - 1
	if h.ran || last < 0 || (*list)[last] != h {
		s.fail("%s: a callback runs for the second time (%v), or not in turn: %d wait", n.path(), h.ran, last+1)
	}
	h.ran = true
	*list = (*list)[:last]
	s.pending.Add(-1)
	s.count(evCallbacks)
	for _, c := range n.below {
		if c.user == nil && len(c.hooks)+len(c.low) > 0 {
			s.fail("%s: callbacks run before those of %s", n.path(), c.path())
		}
	}
	if rng.IntN(4) == 0 {
		runtime.Gosched() // so that others find the context in the middle of it
	}
	s.verify(rng, n, rng.IntN(4) == 0)
	if h.extra != nil {
		try(h.extra)
	}
	if !h.low && rng.IntN(4) == 0 {
		s.add(rng, n, nil)
	}
	if !h.low && rng.IntN(8) == 0 {
		s.hook(rng, n)
	}
	if h.panics {
		s.count(evPanics)
		panic(planted{"of a callback"})
	}
}

// lose is for the callbacks of an abandoned context that is not deleted: they
// never run.
func (s *soak) lose(n *twin) {
	for _, h := range append(n.hooks, n.low...) {
		s.pending.Add(-1)
		if h.extra != nil {
			h.extra()
		}
	}
	n.hooks, n.low = nil, nil
}

// mustHaveRun fails if callbacks of the nodes are yet to run.
func (s *soak) mustHaveRun(op string, list []*twin) {
	for _, n := range list {
		if len(n.hooks)+len(n.low) > 0 {
			s.fail("%s: %s did not run %d callbacks of the context and %d of its arena", n.path(), op, len(n.hooks), len(n.low))
		}
	}
}
