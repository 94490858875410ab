package workload

import (
	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

//go:generate go run ./gen

// Workload sizes makes objects of one pointer-free type and stores each to a
// global: the cost of the allocation itself. Only the first word is written,
// which leaves the clearing of the rest to the allocator.

func init() {
	Register(Workload{
		Name:  "sizes",
		Doc:   "objects of one size, each stored to a global",
		Unit:  "object",
		Cases: sizesCases,
	})
}

const (
	sizesObjects = 100_000
	// 100,000 objects of 8 KiB are 800 MB; this many are 32 MB.
	sizesLargeObjects = 4_000
	// A round takes less time than a single collection of the hammer, so
	// there are as many rounds in one as it takes to have a few.
	sizesHammerUnits      = 16
	sizesHammerUnitsQuick = 4
)

// Each object is stored here, and is garbage when the next one is.
var (
	sinkInt     *int
	sinkInt2    *[2]int
	sinkInt64   *[64]int
	sinkInt1024 *[1024]int
)

func sizesCases(cfg Config) []Case {
	n, large, hammerUnits := sizesObjects, sizesLargeObjects, sizesHammerUnits
	if cfg.Quick {
		large /= 4
		hammerUnits = sizesHammerUnitsQuick
	}
	var cases []Case
	for _, units := range []int{0, hammerUnits} {
		cases = append(cases,
			sizesCase("int", units, n, sizesIntNew, sizesIntArena, sizesIntLane, sizesIntBump,
				func() uint64 { return uint64(*sinkInt) }),
			sizesCase("[2]int", units, n, sizesInt2New, sizesInt2Arena, sizesInt2Lane, sizesInt2Bump,
				func() uint64 { return addInts(0, sinkInt2[:]) }),
			sizesCase("[64]int", units, n, sizesInt64New, sizesInt64Arena, sizesInt64Lane, sizesInt64Bump,
				func() uint64 { return addInts(0, sinkInt64[:]) }),
			sizesCase("[1024]int", min(units, 1), large, sizesInt1024New, sizesInt1024Arena, sizesInt1024Lane, sizesInt1024Bump,
				func() uint64 { return addInts(0, sinkInt1024[:]) }),
		)
	}
	return cases
}

// sizesCase returns the case of type T, with n objects in a unit. If hammerUnits
// is above 0, another goroutine collects all the while, and a round has that many
// units.
func sizesCase[T any](typ string, hammerUnits, n int, heap func(int), inArena func(*arena.Arena, int),
	inLane func(*arena.Lane[T], int), inBump func(*bump.Arena, int), check func() uint64) Case {
	c := Case{Name: "type=" + typ + "/gc=quiet"}
	noisy := hammerUnits > 0
	var targets map[string][]Target
	if typ == "int" && !noisy {
		targets = map[string][]Target{
			laneReset:  {faster(5), atMost(MetricTime, 1.1)},
			bumpReset:  {faster(5), atMost(MetricTime, 1.3)},
			arenaFresh: {faster(1)},
			laneFresh:  {faster(1)},
			bumpFresh:  {faster(1)},
		}
	}
	if noisy {
		c.Name = "type=" + typ + "/gc=hammer"
		c.Doc = "another goroutine calls runtime.GC all the while"
	}
	units := max(hammerUnits, 1)
	type root = struct{}
	load := func() (*program[root, *arena.Lane[T]], error) {
		return &program[root, *arena.Lane[T]]{
			units: units,
			ops:   int64(units * n),
			noisy: noisy,
			heap:  func(int) (r root) { heap(n); return },
			arena: func(mem *arena.Arena, _ int) (r root) { inArena(mem, n); return },
			lanes: arena.LaneOf[T],
			lane:  func(lane *arena.Lane[T], _ int) (r root) { inLane(lane, n); return },
			bump:  func(mem *bump.Arena, _ int) (r root) { inBump(mem, n); return },
			check: func(root) uint64 { return check() },
			close: func() { sinkInt, sinkInt2, sinkInt64, sinkInt1024 = nil, nil, nil, nil },
		}, nil
	}
	c.Variants = variants(load, targets, allVariants...)
	return c
}

// sizesIntNew makes n objects of type int.
func sizesIntNew(n int) {
	for i := range n {
		p := new(int)
		*p = i
		sinkInt = p
	}
}

// sizesInt2New makes n objects of type [2]int.
func sizesInt2New(n int) {
	for i := range n {
		p := new([2]int)
		p[0] = i
		sinkInt2 = p
	}
}

// sizesInt64New makes n objects of type [64]int.
func sizesInt64New(n int) {
	for i := range n {
		p := new([64]int)
		p[0] = i
		sinkInt64 = p
	}
}

// sizesInt1024New makes n objects of type [1024]int.
func sizesInt1024New(n int) {
	for i := range n {
		p := new([1024]int)
		p[0] = i
		sinkInt1024 = p
	}
}

func addInts(h uint64, s []int) uint64 {
	for _, v := range s {
		h = add(h, uint64(v))
	}
	return h
}
