package workload

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/haven-mem/haven/arena"
)

// Workload resident keeps one large tree alive and collects: what an index or a
// cache costs in every cycle of the collector, for as long as the program runs.
// A round is a few collections with nothing else to do. The figure is the
// collector's CPU time per cycle, as the runtime accounts for it; the time is
// the wall time of a cycle.

func init() {
	Register(Workload{
		Name:  "resident",
		Doc:   "collections while a tree of millions of nodes stays alive",
		Unit:  "cycle",
		Cases: residentCases,
	})
}

const (
	residentLevels = 23 // 8,388,607 nodes
	residentQuick  = 20 // 1,048,575 nodes
	residentCycles = 3  // in a round

	residentMetric = "gc-cpu-ns/cycle"
)

func residentCases(cfg Config) []Case {
	levels := residentLevels
	if cfg.Quick {
		levels = residentQuick
	}
	// A tree is built once, so there is nothing to reset.
	how := map[string]string{"new": heapNew, "arena": arenaFresh, "lane": laneFresh, "bump": bumpFresh}
	return []Case{{
		Name:       fmt.Sprintf("nodes=%d", treeSize(levels)),
		SinglePass: true,
		Variants: variantsOf([]string{"new", "arena", "lane", "bump"}, map[string][]Target{
			"arena": {less(residentMetric, 2.5)},
			"bump":  {less(residentMetric, 300)},
		}, func(name string) (Instance, error) {
			return newResident(how[name], levels), nil
		}),
	}}
}

// resident is an instance of the workload.
type resident struct {
	build   Instance // an instance of the tree program
	keep    *slot[*treeNode, *arena.Lane[treeNode]]
	built   time.Duration
	inspect func(sum uint64)
	samples [1]metrics.Sample
}

func newResident(mode string, levels int) *resident {
	in := newInstance(treeProgram(levels), mode)
	res := &resident{build: in, keep: &in.slots[0]}
	res.samples[0].Name = "/cpu/classes/gc/total:cpu-seconds"
	start := time.Now()
	in.build(res.keep, 0)
	res.built = time.Since(start)
	return res
}

func (in *resident) Round(r *Round) {
	runtime.GC() // the first one after a pause also wakes the runtime's threads
	before := in.gcCPU()
	start := time.Now()
	for range residentCycles {
		runtime.GC()
	}
	r.Elapsed = time.Since(start)
	r.Ops = residentCycles
	r.SetExtra(residentMetric, (in.gcCPU()-before)/residentCycles)
	r.SetExtra("build-ns", float64(in.built))
	if in.inspect != nil {
		in.inspect(in.keep.root.sum())
	}
}

// gcCPU returns the nanoseconds of CPU that the collector has used up to the
// end of the last cycle. The runtime adds them up when a cycle ends, which is
// before runtime.GC returns.
func (in *resident) gcCPU() float64 {
	metrics.Read(in.samples[:])
	return in.samples[0].Value.Float64() * 1e9
}

func (in *resident) Close() { in.build.Close() }
