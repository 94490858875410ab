package memctx_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// A program is a row of operations, each with as many operands as it needs.
type program []byte

func (p *program) next() int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b)
}

// Bounds that keep programs, whose checks are quadratic, fast.
const (
	maxNodes   = 40
	maxProgram = 600
	maxKept    = 60
)

// execute runs a program, then ends all there is.
func (m *treeModel) execute(p program) {
	for len(p) > 0 && len(m.nodes) < maxNodes {
		m.step++
		m.operate(&p)
		m.check()
		if m.step%8 == 0 {
			m.checkShown()
		}
		if len(m.kept) > maxKept {
			m.kept = m.kept[maxKept/2:]
		}
	}
	m.op = "the end"
	for _, n := range slices.Backward(m.nodes) {
		for n.leases > 0 {
			m.release(n)
		}
		if n.state == "live" || n.state == "abandoned" {
			m.delete(n)
		}
	}
	m.check()
	m.checkShown()
	for i, n := range m.nodes {
		if n.state != "gone" || memctx.Taken(n.mc) != 0 {
			m.failf("node %d is %s with %d bytes", i, n.state, memctx.Taken(n.mc))
		}
	}
}

// pick returns one of the nodes: as a rule one that is usable.
func (m *treeModel) pick(p *program) *node {
	b := p.next()
	if len(m.nodes) == 0 {
		m.root(p)
	}
	n := m.nodes[b%len(m.nodes)]
	for i := 0; b < 240 && !n.usable() && i < len(m.nodes); i++ {
		n = m.nodes[(b+i)%len(m.nodes)]
	}
	return n
}

func (m *treeModel) operate(p *program) {
	switch op := p.next() % 24; op {
	case 0:
		m.root(p)
	case 1, 2, 3:
		m.child(m.pick(p), p)
	case 4, 5, 6, 7, 8:
		m.allocate(m.pick(p), p.next(), p.next())
	case 9, 10, 11:
		m.onReset(m.pick(p), p.next())
	case 12, 13:
		m.reset(m.pick(p))
	case 14:
		m.resetChildren(m.pick(p))
	case 15, 16:
		m.delete(m.pick(p))
	case 17, 18:
		n := m.pick(p)
		if b := p.next(); b < 30 {
			m.setParent(n, nil)
		} else {
			m.setParent(n, m.pick(p))
		}
	case 19, 20:
		m.retain(m.pick(p))
	case 21, 22:
		m.release(m.pick(p))
	case 23:
		m.abandon(m.pick(p))
	}
}

// describe makes a node with the options that the program asks for.
func (m *treeModel) describe(p *program) (*node, []memctx.Option) {
	b := p.next()
	n := &node{name: m.names[b%len(m.names)], state: "live"}
	var opts []memctx.Option
	if b >= 100 {
		n.ident = fmt.Sprint(b)
		opts = append(opts, memctx.Ident(n.ident))
	}
	switch p.next() % 6 {
	case 0:
		n.limit = 500 + 40*p.next()
	case 1:
		n.reserve = 40 * p.next()
	case 2:
		n.limit = 500 + 40*p.next()
		n.reserve = n.limit * (p.next() % 4) / 3
	}
	if n.limit > 0 {
		opts = append(opts, memctx.Limit(n.limit))
	}
	if n.reserve > 0 {
		opts = append(opts, memctx.Reserve(n.reserve))
	}
	n.isBound = n.limit > 0 || n.reserve > 0
	return n, opts
}

func (m *treeModel) root(p *program) {
	m.op = "New"
	n, opts := m.describe(p)
	n.mc = memctx.New(n.name, opts...)
	m.nodes = append(m.nodes, n)
}

func (m *treeModel) child(parent *node, p *program) {
	n, opts := m.describe(p)
	m.op = "Child of " + parent.path()
	if !parent.usable() {
		m.misuse(fmt.Sprintf("Child(%q)", n.name), parent, func() { parent.mc.Child(n.name, opts...) })
		return
	}
	mc, err := parent.mc.TryChild(n.name, opts...)
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

func (m *treeModel) allocate(n *node, b, size int) {
	m.op = "allocate in " + n.path()
	if !n.usable() {
		m.misuse("Arena", n, func() { n.mc.Arena() })
		return
	}
	a := n.mc.Arena()
	th := thing{x: byte(m.step)}
	var err error
	need := 1
	switch b % 4 {
	case 0:
		need = 16 * size // or more: the size of a tag is the machine's
		for range size % 8 {
			if th.tag, err = arena.TryNew[tag](a); err != nil {
				break
			}
			x := th.x
			*th.tag = tag{&x, th.tag}
			n.things = append(n.things, th)
		}
		need = 0
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

func (m *treeModel) onReset(n *node, b int) {
	m.op = "OnReset of " + n.path()
	if !n.usable() {
		m.misuse("OnReset", n, func() { n.mc.OnReset(func() {}) })
		return
	}
	m.calls++
	f := callback{m.calls, []int{returns, returns, panics, registers, allocates}[b%5]}
	register, mc := n.mc.OnReset, n.mc
	if b%2 == 0 && f.does <= panics {
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
	for _, x := range n.below() {
		held := slices.ContainsFunc(x.below(), func(y *node) bool { return y.leases > 0 })
		kept := false // ended, or made by those who hold one that is
		for y := x; y != n; y = y.parent {
			kept = kept || y.state == "ended"
		}
		if !kept {
			m.resetOwn(x, held)
		}
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
	for q := p; q != nil; q = q.parent {
		if q == n {
			wants = fmt.Sprintf("memctx: SetParent of %s to %s: want a context that is not the same or below it", n.path(), p.path())
		}
	}
	switch {
	case wants != "":
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
	if over {
		n.parent = old
	} else {
		if p != nil {
			p.children = append(p.children, n)
		}
		if old != nil {
			old.children = slices.DeleteFunc(old.children, func(x *node) bool { return x == n })
			m.tryEnd(old)
		}
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
		m.misuse("Retain", n, n.mc.Retain)
		return
	}
	n.leases++
	n.mc.Retain()
}

func (m *treeModel) release(n *node) {
	m.op = "Release of " + n.path()
	if n.leases == 0 {
		m.last = "memctx: Release without Retain of " + n.path()
	} else {
		n.leases--
		m.tryEnd(n)
	}
	m.do(n.mc.Release)
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
	n.leave()
	if n.parent != nil {
		m.tryEnd(n.parent)
	}
	m.do(n.mc.Abandon)
}

// FuzzTree runs programs of operations on a forest of contexts, beside a model.
func FuzzTree(f *testing.F) {
	for seed := range uint64(3) {
		f.Add([]byte(randomProgram(seed, 200)))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) <= maxProgram {
			newTreeModel(t).execute(p)
		}
	})
}

// The deterministic run of the fuzz test: random programs, the same each time.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(fewer(3000, 300)) {
		newTreeModel(t).execute(randomProgram(seed, 40+int(seed%8)*50))
	}
}

func randomProgram(seed uint64, n int) program {
	rng := rand.New(rand.NewPCG(seed, 17))
	p := make(program, n)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	return p
}
