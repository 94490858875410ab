package workload

import (
	"strings"

	"github.com/haven-mem/haven/arena"
)

// Inspect has f called with a checksum of everything that inst makes.
func Inspect(inst Instance, f func(sum uint64)) {
	inst.(interface{ setInspect(func(uint64)) }).setInspect(f)
}

func (in *instance[R, L]) setInspect(f func(uint64)) { in.inspect = f }
func (in *resident) setInspect(f func(uint64))       { in.inspect = f }
func (in *reset) setInspect(f func(uint64))          { in.inspect = f }

func (g *game) setInspect(f func(uint64)) {
	g.instance.inspect, g.stretch.inspect, g.long.inspect = f, f, f
}

// ResetReserved returns the bytes that the arenas of an instance of workload
// reset have reserved.
func ResetReserved(inst Instance) (all []int) {
	for _, a := range inst.(*reset).arenas {
		all = append(all, a.Stats().Reserved)
	}
	return all
}

// ObjectsOf returns how many objects of each of the program's own types a unit
// of workload request or types makes, with the size of one.
func ObjectsOf(workload string) []arena.LaneStats {
	a := arena.NewArena()
	prefix := "workload.req"
	if workload == "request" {
		requestRoutes = makeRoutes()
		lanes := newRequestLanes(a)
		requestLane(&lanes, requestWire, 3)
	} else {
		prefix = "workload.t"
		typesProgram(typesObjects, 1, 1).arena(a, 0)
	}
	var own []arena.LaneStats
	for _, l := range a.Stats().Lanes {
		if strings.HasPrefix(l.Type, prefix) && l.Type != "workload.typesNode" {
			own = append(own, l)
		}
	}
	return own
}

// RecordSizes are the sizes of the types whose size the documentation states.
var RecordSizes = map[string][2]int{
	"chainNode":   {size[chainNode](), 88},
	"smallRecord": {size[smallRecord](), 96},
	"treeNode":    {size[treeNode](), 24},
	"gameNode":    {size[gameNode](), 16},
	"resetNode":   {size[resetNode](), 64},
	"liveObject":  {size[liveObject](), 64},
}

func size[T any]() int {
	a := arena.NewArena()
	arena.New[T](a)
	return a.Stats().Lanes[0].Size
}
