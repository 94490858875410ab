package memctx_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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
	switch op := p.next() % 26; op {
	case 0:
		m.root(p)
	case 1, 2, 3:
		m.child(m.pick(p), p)
	case 4, 5, 6, 7, 8:
		m.allocate(m.pick(p), p.next(), p.next())
	case 9, 10, 11:
		m.onReset(m.pick(p), p)
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
	case 24:
		m.lose(m.pick(p), p)
	case 25: // what it lost stays where it is counted, and what is above moves
		n := m.pick(p)
		m.lose(n, p)
		m.onReset(n, &program{4, byte(p.next())})
		m.delete(n)
	}
}

// describe makes a node with the settings that the program asks for.
func (m *treeModel) describe(p *program) (*node, memctx.Config) {
	b := p.next()
	n := &node{name: m.names[b%len(m.names)], state: "live"}
	var conf memctx.Config
	if b >= 100 {
		n.ident = fmt.Sprint(b)
		conf.Ident = n.ident
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
		conf.Limit = n.limit
	}
	if n.reserve > 0 {
		conf.Reserve = n.reserve
	}
	n.isBound = n.limit > 0 || n.reserve > 0
	return n, conf
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
