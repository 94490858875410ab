package stress

import (
	"errors"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// contextNames are few, so that memory goes from one context to another all the time.
var contextNames = []string{"stress-conn", "stress-request", "stress-query"}

// A node is a memory context of the worker's tree, and what is in it.
type node struct {
	mc     *memctx.Context
	parent int // of nodes; -1: the worker's root
	chain  chain[cell]
	words  []uint64
	seed   uint64
	hooks  int32         // callbacks that have to run when it is reset or ends
	ran    *atomic.Int32 // and that did
}

// A lease is a context that another goroutine is to use and release.
type lease struct {
	node
	above   *node  // the parent, if it was deleted, too, and so waits for the lease
	deleted bool   // so that its release ends it
	give    func() // the lease back
}

// stepContext does something with one of the contexts.
func (w *worker) stepContext() {
	i := w.below(len(w.nodes))
	n := &w.nodes[i]
	if n.mc == nil {
		w.makeNode(i, n)
		return
	}
	k := w.below(32)
	for _, op := range contextOps {
		if k -= op.weight; k < 0 {
			w.note(op.name, "context", i, inContext, n.chain.n)
			op.do(w, i, n)
			return
		}
	}
}

// contextOps have the weight 32 together.
var contextOps = []struct {
	name   string
	weight int
	do     func(*worker, int, *node)
}{
	{"write", 8, func(w *worker, _ int, n *node) { w.writeNode(n) }},
	{"verify", 6, func(w *worker, _ int, n *node) { w.readNode(n) }},
	{"callback", 2, func(w *worker, _ int, n *node) { n.hook() }},
	{"reset", 3, (*worker).resetNode},
	{"reset children of", 1, (*worker).resetChildren},
	{"delete", 4, (*worker).deleteNode},
	{"move", 3, (*worker).moveNode},
	{"lease", 2, (*worker).leaseNode},
	{"abandon", 1, (*worker).abandonNode},
	{"promote from", 2, func(w *worker, _ int, n *node) { w.promoteFrom(n) }},
}

func (w *worker) makeNode(i int, n *node) {
	parent, above := w.below(len(w.nodes)), w.root
	if p := &w.nodes[parent]; p.mc != nil {
		above = p.mc
	} else {
		parent = -1
	}
	var conf memctx.Config
	if w.shared.limits && w.oneIn(4) {
		conf.Limit = 16 << 10 << w.below(6)
	}
	if w.oneIn(8) {
		conf.Reserve = 1024 << w.below(4)
	}
	w.note("child", "context", i, inContext, parent)
	mc, err := above.TryChild(contextNames[w.below(len(contextNames))], conf)
	if err != nil {
		mustBeLimit(err)
		return
	}
	*n = node{mc: mc, parent: parent, ran: new(atomic.Int32)}
	w.ops++
	w.writeNode(n)
}

// writeNode adds to what is in a context, as far as there is room.
func (w *worker) writeNode(n *node) {
	a := n.mc.Arena()
	if n.words == nil && w.oneIn(2) {
		size := 1 + w.below(80)
		words, err := arena.TryMakeSlice[uint64](a, size, size)
		if err != nil {
			mustBeLimit(err)
		} else {
			mustBeZero(words, func() string { return "words in a context" })
			n.words, n.seed = words, w.next()
			fill(words, n.seed)
			w.ops++
		}
	}
	w.growIn(a, &n.chain, inContext, 1+w.below(8))
}

// growIn adds cells of an arena to a chain, which it begins if there is none.
func (w *worker) growIn(a *arena.Arena, c *chain[cell], h home, count int) {
	if c.head == nil {
		*c = chain[cell]{seed: w.next(), home: h}
	}
	for range count {
		p, err := arena.TryNew[cell](a)
		if err != nil {
			mustBeLimit(err)
			break
		}
		w.cells.add(c, p)
	}
}

func (n *node) verify() (values int) {
	if n.chain.head != nil {
		verify[cell](&n.chain)
	}
	mustBeContent(n.words, n.seed, func() string { return "words in a context" })
	return 1 + n.chain.n
}

func (w *worker) readNode(n *node) { w.ops += int64(n.verify()) }

func (n *node) hook() {
	n.hooks++
	ran := n.ran
	n.mc.OnReset(func() { ran.Add(1) })
}

// forget is for a context that was reset.
func (n *node) forget() {
	if ran := n.ran.Swap(0); ran != n.hooks {
		fail("%d of %d callbacks of a context ran", ran, n.hooks)
	}
	n.hooks, n.chain, n.words = 0, chain[cell]{}, nil
}

// isBelow reports whether node j is i or below it.
func (w *worker) isBelow(j, i int) bool {
	for j >= 0 && j != i {
		j = w.nodes[j].parent
	}
	return j == i
}

// eachBelow calls f for node i and for all below it.
func (w *worker) eachBelow(i int, f func(j int, n *node)) {
	var list [contexts]int
	found := list[:0]
	for j := range w.nodes {
		if w.nodes[j].mc != nil && w.isBelow(j, i) {
			found = append(found, j)
		}
	}
	for _, j := range found {
		f(j, &w.nodes[j])
	}
}

func (w *worker) resetNode(i int, n *node) {
	w.eachBelow(i, func(_ int, n *node) { w.readNode(n) })
	if w.oneIn(8) {
		count := 0
		w.eachBelow(i, func(int, *node) { count++ })
		if st := n.mc.Stats(); st.Contexts != count {
			fail("%d contexts below %s and itself, want %d", st.Contexts, st.Path, count)
		}
	}
	n.mc.Reset()
	w.ended(i, n)
	w.ops++
}

// ended takes note that node i was reset, and so all below it has ended.
func (w *worker) ended(i int, n *node) {
	w.eachBelow(i, func(j int, m *node) {
		m.forget()
		if j != i {
			*m = node{}
		}
	})
}

func (w *worker) resetChildren(i int, n *node) {
	w.eachBelow(i, func(_ int, n *node) { w.readNode(n) })
	n.mc.ResetChildren()
	w.eachBelow(i, func(j int, m *node) {
		if j != i {
			m.forget()
		}
	})
	w.readNode(n)
}

func (w *worker) deleteNode(i int, n *node) {
	w.eachBelow(i, func(_ int, n *node) { w.readNode(n) })
	n.mc.Delete()
	w.ended(i, n)
	*n = node{}
	w.ops++
}

func (w *worker) moveNode(i int, n *node) {
	to, above := w.below(len(w.nodes)), w.root
	if p := &w.nodes[to]; p.mc != nil {
		above = p.mc
	} else {
		to = -1
	}
	err := n.mc.SetParent(above)
	switch e := (*arena.LimitError)(nil); {
	case to >= 0 && w.isBelow(to, i):
		if err == nil {
			fail("a context was moved below itself, to %s", above.Path())
		}
	case err == nil:
		n.parent = to
	case !errors.As(err, &e):
		fail("SetParent: %v", err)
	}
	w.readNode(n)
}

// leaseNode deletes a context that a lease holds, or the one above it. What is in both
// stays until the lease is released, here or by another goroutine.
func (w *worker) leaseNode(i int, n *node) {
	top := i
	if n.parent >= 0 && w.oneIn(2) {
		top = n.parent
	}
	end := &w.nodes[top]
	if err := end.mc.SetParent(w.shared.root); err != nil {
		mustBeLimit(err)
		return
	}
	end.parent = -1
	w.eachBelow(top, func(_ int, m *node) { w.readNode(m) })
	l := lease{node: *n, deleted: true, give: n.mc.Retain()}
	if top != i {
		above := *end
		l.above = &above
	}
	way := w.below(3)
	if way == 0 { // another goroutine deletes or releases first
		l.deleted = false
		if sent := w.lease(l); !sent {
			l.give()
			return
		}
	}
	end.mc.Delete()
	switch way {
	case 1:
		if sent := w.lease(l); !sent {
			l.release(w)
		}
	case 2:
		w.growIn(n.mc.Arena(), &l.chain, inContext, 1+w.below(8))
		l.release(w)
	}
	// What is in a lease is its holder's.
	*n = node{mc: n.mc, parent: n.parent, ran: new(atomic.Int32)}
	if top != i {
		*end = node{mc: end.mc, parent: -1, ran: new(atomic.Int32)}
	}
	w.ended(top, end)
	*end = node{}
	w.ops++
}

func (w *worker) lease(l lease) (sent bool) {
	select {
	case w.shared.leases <- l:
		return true
	default:
		return false
	}
}

// release ends a lease, and with it the context if it was deleted.
func (l *lease) release(w *worker) {
	w.readNode(&l.node)
	if l.above != nil {
		w.readNode(l.above)
	}
	l.give()
	if l.deleted {
		l.forget()
		if l.above != nil {
			l.above.forget()
		}
	}
	w.ops++
}

// takeLease is the other goroutine's part of leaseNode.
func (w *worker) takeLease() {
	select {
	case l := <-w.shared.leases:
		w.note("take a lease of", "context", 0, inContext, l.chain.n)
		if w.oneIn(2) {
			w.growIn(l.mc.Arena(), &l.chain, inContext, 1+w.below(8))
		}
		l.release(w)
	default:
	}
}

// abandonNode leaves a context and all below it to the garbage collector. The chains
// live on as if they were of Go's heap, whatever is done with the context.
func (w *worker) abandonNode(i int, n *node) {
	n.mc.Abandon()
	way := w.below(4)
	if way > 0 {
		w.growIn(n.mc.Arena(), &n.chain, inContext, 1+w.below(8))
	}
	switch way {
	case 2:
		n.mc.Reset()
		w.growIn(n.mc.Arena(), new(chain[cell]), inContext, 1+w.below(8))
	case 3:
		n.mc.Delete()
	}
	w.eachBelow(i, func(_ int, m *node) {
		w.readNode(m)
		w.adopt(&m.chain)
		*m = node{}
	})
}

// promoteFrom copies the chain of a context to another memory, where it lives on.
func (w *worker) promoteFrom(n *node) {
	if n.chain.head == nil {
		return
	}
	if w.cells.move(&n.chain, w.anyHome()); n.chain.home != inContext {
		w.adoptFrom(&n.chain)
	}
}

// endContexts deletes all of them.
func (w *worker) endContexts() {
	for i := range w.nodes {
		if n := &w.nodes[i]; n.mc != nil {
			w.deleteNode(i, n)
		}
	}
	w.root.Delete()
}
