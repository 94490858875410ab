package workload

import (
	"math/rand"
	"strings"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload types has the habits of a parser: it makes objects of 60 types and
// 12 sizes in an order that no processor can learn, writes a few fields of
// each, points from one to the other, by type and through interfaces, appends
// to short lists, and refers to pieces of a source text. What it asks of an
// arena is to find the right lane among 60, each time. With 24 types, whose
// table is as long, arena+reset takes a sixth less time, so they would flatter.
// The types and the program are in types_gen.go.

func init() {
	Register(Workload{
		Name:  "types",
		Doc:   "objects of 60 types in a random order, as a parser makes them",
		Unit:  "object",
		Cases: typesCases,
	})
}

const (
	typesObjects = 50_000
	typesQuick   = 20_000
	typesAlive   = 5
	typesOrder   = 1 // seed of the order in which types come
)

// A typesNode is an object of one of the types.
type typesNode interface {
	// sum returns the node made before this one, and h with the contents of
	// this one mixed in.
	sum(h uint64) (up typesNode, sum uint64)

	header() *typesHeader
}

// A typesHeader begins every type.
type typesHeader struct {
	up        typesNode
	pos, kind int32
}

func (t *typesHeader) header() *typesHeader { return t }

func (t *typesHeader) add(h uint64) uint64 { return add(h, uint64(t.pos)<<8|uint64(t.kind)) }

func addNodes(h uint64, nodes []typesNode) uint64 {
	for _, n := range nodes {
		if n != nil {
			h = n.header().add(h)
		}
	}
	return add(h, uint64(len(nodes)))
}

// typesSum returns a checksum of all nodes up to last.
func typesSum(last typesNode) uint64 {
	h := uint64(0)
	for n := last; n != nil; {
		n, h = n.sum(h)
	}
	return h
}

// typesSource is the text that the nodes refer to. A package variable keeps it
// alive, as nodes in bump arenas need.
var typesSource = strings.Repeat("func (p *parser) next() { p.pos, p.tok, p.lit = p.scanner.Scan() } ", 16)

// typesProgram makes n nodes a unit and keeps the last few units alive.
func typesProgram(n, units, keep int) *program[typesNode, typesLanes] {
	order := make([]uint8, n)
	rng := rand.New(rand.NewSource(typesOrder))
	for i := range order {
		order[i] = uint8(rng.Intn(typesCount))
	}
	return &program[typesNode, typesLanes]{
		units: units,
		ops:   int64(units * n),
		keep:  keep,
		heap:  func(int) typesNode { return typesNew(order, typesSource) },
		arena: func(mem *arena.Arena, _ int) typesNode { return typesArena(mem, order, typesSource) },
		lanes: newTypesLanes,
		lane:  func(lanes typesLanes, _ int) typesNode { return typesLane(&lanes, order, typesSource) },
		bump:  func(mem *bump.Arena, _ int) typesNode { return typesBump(mem, order, typesSource) },
		check: typesSum,
	}
}

func typesCases(cfg Config) []Case {
	n := typesObjects
	if cfg.Quick {
		n = typesQuick
	}
	cases := []Case{
		{Name: "alive=1", Doc: "dropped when all are made"},
		{Name: "alive=5", Doc: "the latest five times kept alive"},
	}
	for i, keep := range []int{1, typesAlive} {
		units := 1
		if keep > 1 {
			// With more alive there are fewer collections. This many units
			// have some, so that a round is as good as any other.
			units = 2 * keep
		}
		cases[i].Variants = variants(func() (*program[typesNode, typesLanes], error) {
			return typesProgram(n, units, keep), nil
		}, map[string][]Target{
			arenaReset: {faster(3)},
		}, allVariants...)
	}
	return cases
}
