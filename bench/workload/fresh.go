package workload

import (
	"fmt"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload fresh makes a new arena for a handful of objects, which are linked into a list,
// and forgets it: what it costs to have an arena at all. A pool is there for comparison.

func init() {
	Register(Workload{
		Name:  "fresh",
		Doc:   "an arena made for a short list, and forgotten",
		Unit:  "list",
		Cases: freshCases,
	})
}

const freshUnits = 10_000 // lists in a round

type freshNode struct {
	next *freshNode
	data [2]int
}

// freshNew makes a list of n nodes.
func freshNew(n int) *freshNode {
	var list *freshNode
	for i := range n {
		p := new(freshNode)
		p.data[0] = i
		p.next = list
		list = p
	}
	return list
}

// sum returns a checksum of the list that begins at n.
func (n *freshNode) sum() uint64 {
	h := uint64(0)
	for ; n != nil; n = n.next {
		h = addInts(h, n.data[:])
	}
	return h
}

func freshCases(Config) []Case {
	var cases []Case
	for _, n := range []int{1, 5, 31, 100} {
		load := func() (*program[*freshNode, *arena.Lane[freshNode]], error) {
			return &program[*freshNode, *arena.Lane[freshNode]]{
				units: freshUnits,
				ops:   freshUnits,
				heap:  func(int) *freshNode { return freshNew(n) },
				arena: func(mem *arena.Arena, _ int) *freshNode { return freshArena(mem, n) },
				lanes: arena.LaneOf[freshNode],
				lane:  func(lane *arena.Lane[freshNode], _ int) *freshNode { return freshLane(lane, n) },
				bump:  func(mem *bump.Arena, _ int) *freshNode { return freshBump(mem, n) },
				check: (*freshNode).sum,
			}, nil
		}
		wanted := []Target{atMost(MetricAllocs, 2)}
		switch n {
		case 1, 5:
			wanted = append(wanted, atMost(MetricTime, 320))
		case 31:
			wanted = append(wanted, faster(1/0.75))
		default:
			wanted = append(wanted, faster(1))
		}
		cases = append(cases, Case{
			Name:     fmt.Sprintf("objects=%d", n),
			Variants: variants(load, map[string][]Target{arenaFresh: wanted}, heapNew, arenaFresh, laneFresh, bumpFresh, arenaPool),
		})
	}
	return cases
}
