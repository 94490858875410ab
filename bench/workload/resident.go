package workload

import (
	"fmt"
	"time"

	"github.com/haven-mem/haven/arena"
)

// Workload resident keeps one large tree alive and collects: what an index or a
// cache costs in every cycle of the collector, for as long as the program runs.
// A round is a few collections with nothing else to do; see cycles.

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
			"arena": {less(cyclesMetric, 2.5)},
			"bump":  {less(cyclesMetric, 300)},
		}, func(name string) (Instance, error) {
			return newResident(how[name], levels), nil
		}),
	}}
}

// resident is an instance of the workload.
type resident struct {
	cycles  cycles
	build   Instance // an instance of the tree program
	keep    *slot[*treeNode, *arena.Lane[treeNode]]
	built   time.Duration
	inspect func(sum uint64)
}

func newResident(mode string, levels int) *resident {
	in := newInstance(treeProgram(levels), mode)
	res := &resident{build: in, keep: &in.slots[0]}
	start := time.Now()
	in.build(res.keep, 0)
	res.built = time.Since(start)
	return res
}

func (in *resident) Round(r *Round) {
	in.cycles.round(r)
	r.SetExtra("build-ns", float64(in.built))
	if in.inspect != nil {
		in.inspect(in.keep.root.sum())
	}
}

func (in *resident) Close() { in.build.Close() }
