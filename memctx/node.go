package memctx

import "sync"

// Nodes are those of a kind: of contexts that are gone, for those to come. What was idle since
// the garbage collection before goes at each: it refers to what was above it.
//
//	created = contexts that came to be
//	deleted = those that ended and were not abandoned
type nodes struct {
	mu               sync.Mutex
	created, deleted uint64
	never, once      idle // those that were never roots, and those that were, so that the list of roots has no others
}

// idle is a stack of nodes.
type idle struct {
	list  []*node
	spare int // fewest since the garbage collection before
}

// maxIdle is the most nodes of each stack.
const maxIdle = 1024

// take returns a node for a context of this name, and how many there were before.
func (k *kind) take(root bool) (n *node, before uint64) {
	x := &k.nodes
	x.mu.Lock()
	before = x.created
	x.created++
	s := &x.never
	if root {
		s = &x.once
	}
	if i := len(s.list) - 1; i >= 0 {
		n = s.list[i]
		s.list[i] = nil
		s.list = s.list[:i]
		s.spare = min(s.spare, i)
		x.mu.Unlock()
		return n, before
	}
	x.mu.Unlock()
	n = &node{kind: k}
	n.ledger.node = n
	return n, before
}

// retire counts a context that is gone, and gives its node to the next one unless
// something still refers to it.
func (c *node) retire() {
	x := &c.kind.nodes
	x.mu.Lock()
	defer x.mu.Unlock()
	if !c.forsaken {
		x.deleted++
	}
	x.put(c)
}

// put is called with mu held.
func (x *nodes) put(c *node) {
	s := &x.never
	if c.watch != nil {
		s = &x.once
	}
	if !c.forsaken && c.ledger.atRest() && len(s.list) < maxIdle {
		s.list = append(s.list, c)
	}
}

// refuse gives a node back whose context did not come to be.
func (c *node) refuse() {
	c.mu.Lock()
	c.ledger.reserve = 0
	c.become(gone)
	c.mu.Unlock()
	x := &c.kind.nodes
	x.mu.Lock()
	defer x.mu.Unlock()
	x.created--
	x.put(c)
}

// trim is called at each garbage collection.
func (x *nodes) trim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range []*idle{&x.never, &x.once} {
		kept := len(s.list) - s.spare
		clear(s.list[kept:])
		s.list = s.list[:kept]
		s.spare = kept
	}
}

// counts returns how many contexts came to be, and ended.
func (x *nodes) counts() (created, deleted uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.created, x.deleted
}
