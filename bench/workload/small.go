package workload

import (
	"runtime"
	"strings"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload small makes many small records, keeps all of them in a slice, and
// then lets go of all at once.
//
// The time of a round is what the program itself spends: making the records,
// clearing the slice and, with an arena that is reused, giving it back. What
// it takes until the memory can be used again is the figure release-ns: of an
// arena that is reset, the Reset; of anything else, a collection, which marks
// what else is alive and sweeps the records. Every variant runs that
// collection at the end of its rounds, outside of the time, so that the
// collector's figures compare and each round starts with a clean heap; that
// spares the heap some of the collections it would have in life.

func init() {
	Register(Workload{
		Name:  "small",
		Doc:   "200,000 records of 96 bytes, kept and then dropped at once",
		Unit:  "object",
		Cases: smallCases,
	})
}

const (
	smallObjects = 200_000
	smallQuick   = 50_000
)

// smallRecord takes 96 bytes on machines of 64 bits, a size class of Go's heap.
type smallRecord struct {
	name     string
	previous *smallRecord
	owner    *smallRecord
	tags     []string
	id       int
	counts   [4]int
}

// smallTags is what all records refer to. It is kept alive by being a package
// variable, so that records in a bump arena may refer to it as well.
var smallTags = strings.Fields("alpha beta gamma delta epsilon zeta eta theta")

// smallNew fills keep with records.
func smallNew(keep []*smallRecord) {
	var previous, owner *smallRecord
	for i := range keep {
		p := new(smallRecord)
		p.name = smallTags[i&7]
		p.previous = previous
		p.owner = owner
		p.tags = smallTags[:i&7]
		p.id = i
		p.counts[i&3] = i
		keep[i] = p
		previous = p
		if i&15 == 0 {
			owner = p
		}
	}
}

func smallSum(keep []*smallRecord) uint64 {
	h := uint64(0)
	for _, p := range keep {
		h = add(addString(h, p.name), uint64(p.id))
		h = addInts(add(h, uint64(len(p.tags))), p.counts[:])
		for _, q := range []*smallRecord{p.previous, p.owner} {
			if q != nil {
				h = add(h, uint64(q.id))
			}
		}
	}
	return h
}

func smallCases(cfg Config) []Case {
	n := smallObjects
	if cfg.Quick {
		n = smallQuick
	}
	return []Case{{
		SinglePass: true,
		Variants: variantsOf(allVariants, nil, func(name string) (Instance, error) {
			keep := make([]*smallRecord, n)
			return &small{newInstance(smallProgram(keep), name)}, nil
		}),
	}}
}

func smallProgram(keep []*smallRecord) *program[[]*smallRecord, *arena.Lane[smallRecord]] {
	return &program[[]*smallRecord, *arena.Lane[smallRecord]]{
		units: 1,
		ops:   int64(len(keep)),
		heap:  func(int) []*smallRecord { smallNew(keep); return keep },
		arena: func(mem *arena.Arena, _ int) []*smallRecord { smallArena(mem, keep); return keep },
		lanes: arena.LaneOf[smallRecord],
		lane: func(lane *arena.Lane[smallRecord], _ int) []*smallRecord {
			smallLane(lane, keep)
			return keep
		},
		bump:  func(mem *bump.Arena, _ int) []*smallRecord { smallBump(mem, keep); return keep },
		check: smallSum,
	}
}

// small is an instance of the workload.
type small struct {
	*instance[[]*smallRecord, *arena.Lane[smallRecord]]
}

func (in *small) Round(r *Round) {
	s := &in.slots[0]
	start := time.Now()
	in.build(s, 0)
	if in.inspect != nil {
		in.inspect(in.check(s.root))
	}
	clear(s.root)
	dropped := time.Now()
	in.end(s)
	ended := time.Now()
	runtime.GC()
	swept := time.Now()

	release := swept.Sub(dropped)
	switch in.mode {
	case arenaReset, laneReset, bumpReset, arenaPool:
		release = ended.Sub(dropped)
	}
	r.Ops = in.ops
	r.Elapsed = ended.Sub(start)
	r.SetExtra("release-ns", float64(release))
}
