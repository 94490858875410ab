package workload

import (
	"strings"
	"sync"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/shape"
)

// No test waits for half a minute.
func init() { burstSecond = time.Millisecond }

// Inspect has f called with a checksum of everything that inst makes.
func Inspect(inst Instance, f func(sum uint64)) {
	inst.(interface{ setInspect(func(uint64)) }).setInspect(f)
}

func (in *instance[R, L]) setInspect(f func(uint64)) { in.inspect = f }
func (in *resident) setInspect(f func(uint64))       { in.inspect = f }
func (in *reset) setInspect(f func(uint64))          { in.inspect = f }
func (in *appends) setInspect(f func(uint64))        { in.inspect = f }
func (t *task) setInspect(f func(uint64))            { t.inspect = f }
func (in *handles) setInspect(f func(uint64))        { in.inspect = f }

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

// HandleNodeShape is the shape of the nodes of workload handles.
func HandleNodeShape() shape.Shape { return shape.Of[handleNode]() }

// ChurnFigures is what ChurnAccounts returns.
type ChurnFigures struct {
	Allocated, Freed, Alive int
	Wrong                   int               // frees of what was not allocated
	Foreign                 [churnWorkers]int // frees of what the other worker allocated
	Old                     [2]int            // alive since the beginning, in an eighth of the places and in the others
}

// ChurnAccounts runs rounds of workload churn.
func ChurnAccounts(rounds int) (f ChurnFigures) {
	var mu sync.Mutex
	out := map[*churnObject]bool{}
	in := newChurn(source[churnObject]{alloc: func() *churnObject {
		mu.Lock()
		defer mu.Unlock()
		f.Allocated++
		p := new(churnObject)
		out[p] = true
		return p
	}}, churnQuick)
	for i := range in.workers {
		in.workers[i].free = func(p *churnObject) {
			mu.Lock()
			defer mu.Unlock()
			f.Freed++
			if !out[p] {
				f.Wrong++
			}
			delete(out, p)
			if p.id>>32 != uint64(i) {
				f.Foreign[i]++
			}
		}
	}
	first := in.workers[0].serial
	for range rounds {
		in.Round(&Round{})
	}
	for i := range in.workers {
		places := in.workers[i].places
		for k, p := range places {
			switch {
			case p == nil:
				continue
			case uint32(p.id) >= uint32(first):
			case k < len(places)/8:
				f.Old[0]++
			default:
				f.Old[1]++
			}
			f.Alive++
		}
	}
	return f
}

// RecordSizes are the sizes of the types whose size the documentation states.
var RecordSizes = map[string][2]int{
	"chainNode":   {size[chainNode](), 88},
	"smallRecord": {size[smallRecord](), 96},
	"treeNode":    {size[treeNode](), 24},
	"gameNode":    {size[gameNode](), 16},
	"resetNode":   {size[resetNode](), 64},
	"liveObject":  {size[liveObject](), 64},
	"pairObject":  {size[pairObject](), 64},
	"churnObject": {size[churnObject](), 96},
	"burstObject": {size[burstObject](), 1016},
	"handleNode":  {size[handleNode](), 24},
}

func size[T any]() int {
	a := arena.NewArena()
	arena.New[T](a)
	return a.Stats().Lanes[0].Size
}
