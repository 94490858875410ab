package memctx_test

import (
	"fmt"
	"slices"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// The operations of the model: each does in the model what it does to contexts, and
// compares what comes of it.

func (m *treeModel) root(p *program) {
	m.op = "New"
	n, conf := m.describe(p)
	n.mc = memctx.New(n.name, conf)
	m.nodes = append(m.nodes, n)
}

func (m *treeModel) child(parent *node, p *program) {
	n, conf := m.describe(p)
	m.op = "Child of " + parent.path()
	if !parent.usable() {
		m.misuse(fmt.Sprintf("Child(%q)", n.name), parent, func() { parent.mc.Child(n.name, conf) })
		return
	}
	mc, err := parent.mc.TryChild(n.name, conf)
	n.mc, n.parent = mc, parent
	if parent.forsaken {
		n.state, n.forsaken = "abandoned", true
	}
	m.nodes = append(m.nodes, n)
	if err != nil {
		if mc != nil || !isLimit(err) || !m.over() {
			m.failf("TryChild: %v, %v", mc, err)
		}
		m.nodes = m.nodes[:len(m.nodes)-1]
		return
	}
	if m.over() {
		m.failf("over a limit with %+v", n)
	}
	parent.children = append(parent.children, n)
}

// lose makes a child that has something, and abandons it.
func (m *treeModel) lose(parent *node, p *program) {
	before := len(m.nodes)
	if m.child(parent, p); len(m.nodes) > before {
		n := m.nodes[before]
		m.allocate(n, 2, p.next())
		m.abandon(n)
	}
}

func (m *treeModel) allocate(n *node, b, size int) {
	m.op = "allocate in " + n.path()
	if !n.usable() {
		m.misuse("Arena", n, func() { n.mc.Arena() })
		return
	}
	a := n.mc.Arena()
	th := thing{x: byte(m.step)}
	var err error
	need := 0 // bytes at least
	switch b % 4 {
	case 0: // the size of a tag is the machine's
		for range size % 8 {
			if th.tag, err = arena.TryNew[tag](a); err != nil {
				break
			}
			x := th.x
			*th.tag = tag{&x, th.tag}
			n.things = append(n.things, th)
		}
	case 1:
		need = size
		th.b, err = arena.TryMakeSlice[byte](a, size, size)
	case 2:
		need = 20 * size
		th.b, err = arena.TryMakeSlice[byte](a, need, need)
	case 3:
		need = 2 * size
		func() {
			defer func() {
				if r := recover(); r != nil {
					err = r.(error)
				}
			}()
			th.b = arena.MakeSlice[byte](a, need, need)
		}()
	}
	if err != nil {
		if room := m.room(n); !isLimit(err) || need > 0 && need <= room {
			m.failf("%v, but there is room for %d bytes", err, room)
		}
		return
	}
	if th.tag == nil {
		for i := range th.b {
			if th.b[i] != 0 {
				m.failf("allocated memory is not zero")
			}
			th.b[i] = th.x
		}
		n.things = append(n.things, th)
	}
}

func (m *treeModel) onReset(n *node, p *program) {
	m.op = "OnReset of " + n.path()
	if !n.usable() {
		m.misuse("OnReset", n, func() { n.mc.OnReset(func() {}) })
		return
	}
	m.calls++
	b := p.next()
	f := callback{id: m.calls, does: []int{returns, panics, registers, allocates, moves, moves, moves}[b%7], of: n}
	if f.does == moves {
		f.moves = &move{wish: m.pick(p)}
	}
	register, mc := n.mc.OnReset, n.mc
	if b%2 == 0 && f.does != registers && f.does != allocates {
		a := n.mc.Arena()
		register = a.OnReset
		n.inArena = append(n.inArena, f)
	} else {
		n.callbacks = append(n.callbacks, f)
	}
	register(func() {
		m.ran = append(m.ran, f.id)
		switch f.does {
		case panics:
			panic(fmt.Sprint("callback ", f.id))
		case registers:
			mc.OnReset(func() { m.ran = append(m.ran, -f.id) })
		case allocates:
			arena.TryMakeSlice[byte](mc.Arena(), 100, 100)
		case moves:
			got := ""
			if err := f.moves.what.SetParent(f.moves.to); err != nil {
				got = err.Error()
			}
			if got != f.moves.err {
				m.t.Errorf("step %d, %s: SetParent in a callback: error %q, want %q", m.step, m.op, got, f.moves.err)
			}
		}
	})
}

func (m *treeModel) reset(n *node) {
	m.op = "Reset of " + n.path()
	if !n.usable() {
		m.misuse("Reset", n, n.mc.Reset)
		return
	}
	m.endAll(n.below())
	m.resetOwn(n, len(n.children) > 0)
	m.do(n.mc.Reset)
}

func (m *treeModel) resetChildren(n *node) {
	m.op = "ResetChildren of " + n.path()
	if !n.usable() {
		m.misuse("ResetChildren", n, n.mc.ResetChildren)
		return
	}
	type turn struct {
		*node
		held bool
	}
	var turns []turn // as it is now: callbacks may move some of them
	for _, x := range n.below() {
		held := slices.ContainsFunc(x.below(), func(y *node) bool { return y.leases > 0 })
		kept := false // ended, or made by those who hold one that is
		for y := x; y != n; y = y.parent {
			kept = kept || y.state == "ended"
		}
		if !kept {
			turns = append(turns, turn{x, held})
		}
	}
	for _, x := range turns {
		m.resetOwn(x.node, x.held)
	}
	m.do(n.mc.ResetChildren)
}

func (m *treeModel) delete(n *node) {
	m.op = "Delete of " + n.path()
	switch {
	case !n.usable():
		m.misuse("Delete", n, n.mc.Delete)
		return
	case n.state != "ended":
		m.endAll(append(n.below(), n))
	}
	m.do(n.mc.Delete)
}

func (m *treeModel) setParent(n, p *node) {
	m.op = "SetParent of " + n.path()
	var to *memctx.Context
	if p != nil {
		m.op += " to " + p.path()
		to = p.mc
	}
	if !n.usable() {
		m.misuse("SetParent", n, func() { n.mc.SetParent(to) })
		return
	}
	wants := ""
	switch {
	case p.reaches(n):
		wants = fmt.Sprintf("memctx: SetParent of %s to %s: want a context that is not the same or below it", n.path(), p.path())
	case n.forsaken:
		wants = fmt.Sprintf("memctx: SetParent of %s to %s: %s was abandoned", n.path(), to.Path(), n.path())
	case p != nil && p.state == "abandoned":
		wants = fmt.Sprintf("memctx: SetParent of %s to %s: %s was abandoned", n.path(), p.path(), p.path())
	case p != nil && p.state != "live":
		m.last = "memctx: SetParent of " + n.path() + " to the deleted context " + p.path()
		m.do(func() { n.mc.SetParent(to) })
		return
	}
	if wants != "" {
		if err := n.mc.SetParent(to); err == nil || err.Error() != wants {
			m.failf("error %v\nwant %v", err, wants)
		}
		return
	}
	old := n.parent
	if p == old {
		m.do(func() { n.mc.SetParent(to) })
		return
	}
	n.parent = p
	over := m.over()
	n.parent = old
	if !over {
		m.reparent(n, p)
	}
	m.do(func() {
		if err := n.mc.SetParent(to); over != isLimit(err) || !over && err != nil {
			m.failf("error %v, over the limit: %t", err, over)
		}
	})
}

func (m *treeModel) retain(n *node) {
	m.op = "Retain of " + n.path()
	if !n.usable() {
		m.misuse("Retain", n, func() { n.mc.Retain() })
		return
	}
	n.leases++
	n.releases = append(n.releases, n.mc.Retain())
}

func (m *treeModel) release(n *node) {
	m.op = "release of " + n.path()
	if n.leases > 0 {
		n.leases--
		m.tryEnd(n)
		last := len(n.releases) - 1
		n.released, n.releases = n.releases[last], n.releases[:last]
	}
	if n.released != nil {
		m.do(n.released) // which does nothing if it was called before
	}
}

func (m *treeModel) abandon(n *node) {
	m.op = "Abandon of " + n.path()
	if !n.usable() {
		m.misuse("Abandon", n, n.mc.Abandon)
		return
	}
	if n.state != "abandoned" {
		n.state, n.forsaken = "abandoned", true
		for _, x := range n.below() {
			x.forsaken = true
			if x.state == "live" {
				x.state = "abandoned"
			}
		}
	}
	n.settle()
	n.unlink()
	if n.parent != nil {
		m.tryEnd(n.parent)
	}
	m.do(n.mc.Abandon)
}
