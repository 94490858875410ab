package workload

import (
	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload chain makes short doubly linked chains, one after the other, each
// dropped before the next: small arenas that are reset often.

func init() {
	Register(Workload{
		Name:  "chain",
		Doc:   "chains of 100 nodes {int, next, prev, [64]byte}, reset after each chain",
		Unit:  "object",
		Cases: chainCases,
	})
}

const (
	chainNodes = 100
	chainUnits = 1_000 // chains in a round
)

type chainNode struct {
	value      int
	next, prev *chainNode
	payload    [64]byte
}

// chainNew makes a chain of n nodes and returns its first.
func chainNew(n int) *chainNode {
	first := new(chainNode)
	last := first
	for i := 1; i < n; i++ {
		p := new(chainNode)
		p.value = i
		p.payload[i&63] = byte(i)
		p.prev = last
		last.next = p
		last = p
	}
	return first
}

// sum returns a checksum of the chain that begins at n; it goes by both links.
func (n *chainNode) sum() uint64 {
	h, prev := uint64(0), (*chainNode)(nil)
	for ; n != nil; n = n.next {
		if n.prev != prev {
			return 0
		}
		h = add(addString(h, string(n.payload[:])), uint64(n.value))
		prev = n
	}
	return h
}

func chainCases(Config) []Case {
	load := func() (*program[*chainNode, *arena.Lane[chainNode]], error) {
		return &program[*chainNode, *arena.Lane[chainNode]]{
			units: chainUnits,
			ops:   chainUnits * chainNodes,
			heap:  func(int) *chainNode { return chainNew(chainNodes) },
			arena: func(mem *arena.Arena, _ int) *chainNode { return chainArena(mem, chainNodes) },
			lanes: arena.LaneOf[chainNode],
			lane:  func(lane *arena.Lane[chainNode], _ int) *chainNode { return chainLane(lane, chainNodes) },
			bump:  func(mem *bump.Arena, _ int) *chainNode { return chainBump(mem, chainNodes) },
			check: (*chainNode).sum,
		}, nil
	}
	// The figure wanted of the workload is wanted of arena.New, the interface
	// that programs use first; lanes have it for comparison.
	want := []Target{faster(7), noAllocs()}
	return []Case{{Variants: variants(load, map[string][]Target{
		arenaReset: want,
	}, allVariants...)}}
}
