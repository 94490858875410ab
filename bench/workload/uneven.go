package workload

import (
	"math"
	"math/rand"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workloads uneven, spike and routes are those of real programs, whose units of work
// differ in size and in type: documents, requests, queries. What an arena keeps for the
// next unit decides then. The objects are those of workload types.

func init() {
	Register(Workload{
		Name:  "uneven",
		Doc:   "units of Pareto size (α 0.7, 20 to 100,000 objects), one arena",
		Unit:  "object",
		Cases: unevenCases,
	})
	Register(Workload{
		Name:  "spike",
		Doc:   "one unit in 35 of 16,000 objects, the others of 100 to 300, one arena",
		Unit:  "object",
		Cases: spikeCases,
	})
	Register(Workload{
		Name:  "kept",
		Doc:   "2,048 units of Pareto size (α 1, 30 to 10,000 objects) alive, the oldest replaced",
		Unit:  "object",
		Cases: keptCases,
	})
	Register(Workload{
		Name:  "routes",
		Doc:   "units of 120 objects of one type, which differs from unit to unit, one pool of arenas",
		Unit:  "object",
		Cases: routesCases,
	})
}

const (
	unevenUnits  = 4_000 // in a round
	unevenQuick  = 400
	unevenSeed   = 2
	unevenLeast  = 20
	unevenMost   = 100_000
	unevenAlpha  = 0.7
	routeObjects = 120
	keptUnits    = 2_048
	keptQuick    = 256
	keptLeast    = 30
	keptMost     = 10_000
)

// unevenCount returns how many units there are in a round.
func unevenCount(cfg Config) int {
	if cfg.Quick {
		return unevenQuick
	}
	return unevenUnits
}

// pareto returns a number of a distribution with a heavy tail.
func pareto(rng *rand.Rand, alpha, least, most float64) int {
	return int(min(least*math.Pow(1-rng.Float64(), -1/alpha), most))
}

// unitsProgram makes units of these sizes. typeOf says of which type object i of unit k
// is.
func unitsProgram(sizes []int, typeOf func(k, i int) int) *program[typesNode, typesLanes] {
	orders := make([][]uint8, len(sizes))
	ops := 0
	for k, n := range sizes {
		orders[k] = make([]uint8, n)
		for i := range orders[k] {
			orders[k][i] = uint8(typeOf(k, i))
		}
		ops += n
	}
	return &program[typesNode, typesLanes]{
		units: len(sizes),
		ops:   int64(ops),
		heap:  func(k int) typesNode { return typesNew(orders[k], typesSource) },
		arena: func(mem *arena.Arena, k int) typesNode { return typesArena(mem, orders[k], typesSource) },
		lanes: newTypesLanes,
		lane:  func(lanes typesLanes, k int) typesNode { return typesLane(&lanes, orders[k], typesSource) },
		bump:  func(mem *bump.Arena, k int) typesNode { return typesBump(mem, orders[k], typesSource) },
		check: typesSum,
	}
}

// keeps are the targets of memory that is kept for uneven work.
func keeps(times float64) []Target {
	return []Target{
		faster(times),
		{Metric: MetricBytes, Against: heapNew, Bound: AtMost, Value: 0.02},
		{Metric: MetricRSS, Against: heapNew, Bound: AtMost, Value: 1.2},
	}
}

var reused = []string{heapNew, arenaReset, arenaPool, laneReset, bumpReset}

func unevenCases(cfg Config) []Case {
	units := unevenCount(cfg)
	cases := []Case{
		{Name: "types=3"},
		{Name: "types=40"},
		{Name: "types=3/garbage=100KB", Doc: "with so much garbage on Go's heap beside each unit that collections are frequent"},
	}
	for c, types := range []int{3, 40, 3} {
		targets := map[string][]Target{arenaReset: keeps(map[int]float64{3: 8, 40: 5}[types])}
		litter := 0
		if c == 2 {
			targets, litter = nil, 100<<10
		}
		cases[c].Variants = variants(func() (*program[typesNode, typesLanes], error) {
			rng := rand.New(rand.NewSource(unevenSeed))
			sizes := make([]int, units)
			for k := range sizes {
				sizes[k] = pareto(rng, unevenAlpha, unevenLeast, unevenMost)
			}
			p := unitsProgram(sizes, func(int, int) int { return rng.Intn(types) })
			p.litter = litter
			return p, nil
		}, targets, reused...)
	}
	return cases
}

func spikeCases(cfg Config) []Case {
	units := unevenCount(cfg)
	return []Case{{Variants: variants(func() (*program[typesNode, typesLanes], error) {
		rng := rand.New(rand.NewSource(unevenSeed))
		sizes := make([]int, units)
		for k := range sizes {
			if sizes[k] = 100 + rng.Intn(201); k%35 == 17 {
				sizes[k] = 16_000
			}
		}
		return unitsProgram(sizes, func(int, int) int { return rng.Intn(3) }), nil
	}, map[string][]Target{arenaReset: keeps(8)}, reused...)}}
}

func keptCases(cfg Config) []Case {
	units := keptUnits
	if cfg.Quick {
		units = keptQuick
	}
	targets := []Target{
		{Metric: MetricRSS, Against: heapNew, Bound: AtMost, Value: 1.3},
		{Metric: MetricTime, Against: heapNew, Bound: AtLeast, Value: 1},
	}
	return []Case{{Variants: variants(func() (*program[typesNode, typesLanes], error) {
		rng := rand.New(rand.NewSource(unevenSeed))
		sizes := make([]int, units+units/7) // so that memory meets another size in each round
		for k := range sizes {
			sizes[k] = pareto(rng, 1, keptLeast, keptMost)
		}
		p := unitsProgram(sizes, func(int, int) int { return rng.Intn(3) })
		p.keep = units
		return p, nil
	}, map[string][]Target{arenaPool: targets, arenaFresh: targets}, heapNew, arenaFresh, arenaPool)}}
}

func routesCases(cfg Config) []Case {
	units := unevenCount(cfg)
	cases := []Case{{Name: "types=8"}, {Name: "types=32"}}
	for c, types := range []int{8, 32} {
		cases[c].Variants = variants(func() (*program[typesNode, typesLanes], error) {
			rng := rand.New(rand.NewSource(unevenSeed))
			sizes, route := make([]int, units), make([]int, units)
			for k := range sizes {
				sizes[k], route[k] = routeObjects, rng.Intn(types)
			}
			return unitsProgram(sizes, func(k, _ int) int { return route[k] }), nil
		}, map[string][]Target{arenaPool: keeps(5)}, heapNew, arenaReset, arenaPool)
	}
	return cases
}
