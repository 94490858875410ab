package workload

import (
	"fmt"
	"runtime"
	"time"

	"github.com/haven-mem/haven/slab"
)

// Workload handles keeps a tree of millions of nodes alive, like workload
// resident does, and collects. In variant table the nodes refer to each other by
// handles of a slab.Table, so that their type has no pointers and the collector
// passes over them. In the others they are linked by pointers, and lie in the
// heap or in the slabs of a slab.Local.
//
// What handles cost in return is the figure walk-ns/node: the time to visit each
// node once and add it to a checksum, with a check of its generation on the way
// or without. It and the time of building are measured once, in the set-up.

func init() {
	Register(Workload{
		Name:  "handles",
		Doc:   "collections while a tree of millions of nodes, linked by handles, stays alive",
		Unit:  "cycle",
		Cases: handlesCases,
	})
}

const (
	handlesLevels = 23 // 8,388,607 nodes
	handlesQuick  = 20
	handlesTable  = "table"
)

// A handleNode is a treeNode with handles for pointers.
type handleNode struct {
	l, r slab.Handle[handleNode]
	v    int
}

func handlesCases(cfg Config) []Case {
	levels := handlesLevels
	if cfg.Quick {
		levels = handlesQuick
	}
	return []Case{{
		Name:       fmt.Sprintf("nodes=%d", treeSize(levels)),
		SinglePass: true,
		Variants: variantsOf([]string{heapNew, slabLocal, handlesTable}, map[string][]Target{
			handlesTable: {less(cyclesMetric, 300)},
		}, func(name string) (Instance, error) { return newHandles(name, levels), nil }),
	}}
}

// handles is an instance of the workload.
type handles struct {
	cycles  cycles
	walk    func() uint64
	built   time.Duration
	walked  float64 // ns for each node
	sum     uint64
	inspect func(sum uint64)
}

func newHandles(name string, levels int) *handles {
	in := &handles{}
	start := time.Now()
	switch name {
	case heapNew:
		in.walk = treeNew(levels).sum
	case slabLocal:
		nodes := new(slab.Local[treeNode])
		in.walk = localTree(nodes, levels).sum
	case handlesTable:
		nodes := slab.NewTable[handleNode]()
		root := handleTree(nodes, levels)
		in.walk = func() uint64 { return handleSum(nodes, root) }
	default:
		panic("workload: no variant " + name)
	}
	in.built = time.Since(start)

	runtime.GC() // so that no collection goes on while the tree is walked
	start = time.Now()
	in.sum = in.walk()
	in.walked = float64(time.Since(start)) / float64(treeSize(levels))
	return in
}

func localTree(nodes *slab.Local[treeNode], levels int) *treeNode {
	n := nodes.Alloc()
	n.v = levels
	if levels > 1 {
		n.l = localTree(nodes, levels-1)
		n.r = localTree(nodes, levels-1)
	}
	return n
}

func handleTree(nodes *slab.Table[handleNode], levels int) slab.Handle[handleNode] {
	h, n := nodes.Insert(handleNode{v: levels})
	if levels > 1 {
		n.l = handleTree(nodes, levels-1)
		n.r = handleTree(nodes, levels-1)
	}
	return h
}

// handleSum is treeNode.sum; a handle that matches nothing is a nil.
func handleSum(nodes *slab.Table[handleNode], h slab.Handle[handleNode]) uint64 {
	n, ok := nodes.Get(h)
	if !ok {
		return 1
	}
	return add(add(handleSum(nodes, n.l), handleSum(nodes, n.r)), uint64(n.v))
}

func (in *handles) Round(r *Round) {
	in.cycles.round(r)
	r.SetExtra("build-ns", float64(in.built))
	r.SetExtra("walk-ns/node", in.walked)
	if in.inspect != nil {
		in.inspect(in.walk())
	}
}

func (in *handles) Close() { *in = handles{} }
