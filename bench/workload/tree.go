package workload

import (
	"fmt"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload tree builds binary trees. The first case builds one tree a round
// and drops it, nothing else. The second is the program binary-trees of the
// Computer Language Benchmarks Game: a tall tree first, a long-lived tree that
// stays, and then many trees of each of several depths, each of them walked
// and dropped before the next is made. The arenas of the second case are reset
// (dropped, put back) after each single tree, as small as it may be.

func init() {
	Register(Workload{
		Name:  "tree",
		Doc:   "binary trees",
		Unit:  "object",
		Cases: treeCases,
	})
}

const (
	treeLevels       = 17 // of the tree of the first case: 131,071 nodes
	gameDefaultDepth = 15
	gameQuickDepth   = 12
	gameMinDepth     = 4
)

// treeNode is a node of three words.
type treeNode struct {
	l, r *treeNode
	v    int
}

// treeNew makes a full tree of the given number of levels.
func treeNew(levels int) *treeNode {
	n := new(treeNode)
	n.v = levels
	if levels > 1 {
		n.l = treeNew(levels - 1)
		n.r = treeNew(levels - 1)
	}
	return n
}

// sum returns a checksum of the tree at n.
func (n *treeNode) sum() uint64 {
	if n == nil {
		return 1
	}
	return add(add(n.l.sum(), n.r.sum()), uint64(n.v))
}

// gameNode is a node as binary-trees has it.
type gameNode struct{ left, right *gameNode }

// gameNew makes a full tree of the given depth; one of depth 0 is a leaf.
func gameNew(depth int) *gameNode {
	n := new(gameNode)
	if depth > 0 {
		n.left = gameNew(depth - 1)
		n.right = gameNew(depth - 1)
	}
	return n
}

// count is binary-trees' check: the number of nodes.
func (n *gameNode) count() uint64 {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

// countUpTo is count for trees that may be broken: it gives up after most
// nodes.
func (n *gameNode) countUpTo(most uint64) uint64 {
	count := uint64(1)
	for _, c := range []*gameNode{n.left, n.right} {
		if c != nil && count < most {
			count += c.countUpTo(most - count)
		}
	}
	return count
}

func treeCases(cfg Config) []Case {
	depth := gameDefaultDepth
	if cfg.Quick {
		depth = gameQuickDepth
	}
	if cfg.Depth > 0 {
		depth = max(cfg.Depth, gameMinDepth)
	}
	return []Case{
		{
			Name: fmt.Sprintf("nodes=%d", treeSize(treeLevels)),
			Doc:  "one tree of three-word nodes, built and dropped",
			Variants: variants(loadTree, map[string][]Target{
				laneReset:  {faster(7)},
				arenaReset: {faster(5)},
				arenaFresh: {faster(1)},
				laneFresh:  {faster(1)},
				bumpFresh:  {faster(1)},
			}, allVariants...),
		},
		{
			Name: fmt.Sprintf("program=binary-trees/depth=%d", depth),
			Doc:  "many trees of all depths beside a long-lived one",
			Variants: variantsOf(allVariants, nil, func(name string) (Instance, error) {
				return newGame(name, depth), nil
			}),
		},
	}
}

// treeSize returns the number of nodes of a full tree.
func treeSize(levels int) int { return 1<<levels - 1 }

func loadTree() (*program[*treeNode, *arena.Lane[treeNode]], error) {
	return treeProgram(treeLevels), nil
}

// treeProgram is the program that makes one tree.
func treeProgram(levels int) *program[*treeNode, *arena.Lane[treeNode]] {
	return &program[*treeNode, *arena.Lane[treeNode]]{
		units: 1,
		ops:   int64(treeSize(levels)),
		heap:  func(int) *treeNode { return treeNew(levels) },
		arena: func(mem *arena.Arena, _ int) *treeNode { return treeArena(mem, levels) },
		lanes: arena.LaneOf[treeNode],
		lane:  func(lane *arena.Lane[treeNode], _ int) *treeNode { return treeLane(lane, levels) },
		bump:  func(mem *bump.Arena, _ int) *treeNode { return treeBump(mem, levels) },
		check: (*treeNode).sum,
	}
}

// gameProgram makes trees of the given depths, one after the other, and counts
// the nodes of each.
func gameProgram(depths []int) *program[*gameNode, *arena.Lane[gameNode]] {
	p := &program[*gameNode, *arena.Lane[gameNode]]{
		units: len(depths),
		heap:  func(i int) *gameNode { return gameNew(depths[i]) },
		arena: func(mem *arena.Arena, i int) *gameNode { return gameArena(mem, depths[i]) },
		lanes: arena.LaneOf[gameNode],
		lane:  func(lane *arena.Lane[gameNode], i int) *gameNode { return gameLane(lane, depths[i]) },
		bump:  func(mem *bump.Arena, i int) *gameNode { return gameBump(mem, depths[i]) },
		use:   (*gameNode).count,
		check: func(n *gameNode) uint64 { return n.countUpTo(1 << 26) },
	}
	for _, d := range depths {
		p.ops += int64(treeSize(d + 1))
	}
	return p
}

// A game is an instance of binary-trees. The long-lived tree has memory of its
// own kind but not the same: it outlives the others.
type game struct {
	*instance[*gameNode, *arena.Lane[gameNode]]
	stretch, long *instance[*gameNode, *arena.Lane[gameNode]]
}

func newGame(mode string, depth int) *game {
	// The rules: trees of every second depth, fewer the taller they are.
	top := max(depth, gameMinDepth+2)
	var depths []int
	for d := gameMinDepth; d <= top; d += 2 {
		for range 1 << (top - d + gameMinDepth) {
			depths = append(depths, d)
		}
	}
	return &game{
		instance: newInstance(gameProgram(depths), mode),
		stretch:  newInstance(gameProgram([]int{top + 1}), mode),
		long:     newInstance(gameProgram([]int{top}), mode),
	}
}

func (g *game) Round(r *Round) {
	g.stretch.Round(r)
	ops := r.Ops

	s := &g.long.slots[0]
	g.long.build(s, 0)
	g.instance.Round(r)
	if g.inspect != nil {
		g.inspect(g.check(s.root))
	}
	g.sum += s.root.count()
	g.long.end(s)

	r.Elapsed = 0 // the whole call counts, not the last of its parts
	r.Ops += ops + g.long.ops
}

func (g *game) Close() {
	g.instance.Close()
	g.stretch.Close()
	g.long.Close()
}
