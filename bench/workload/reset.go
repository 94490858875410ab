package workload

import (
	"time"

	"github.com/haven-mem/haven/arena"
)

// Workload reset times Arena.Reset alone, of an arena that has reserved a lot
// and used a little of it: Reset has to cost what was used.
//
// The memory is reserved by the options FirstChunk and MaxChunk rather than by
// an earlier peak, because an arena forgets a peak in a few collections and
// would no longer be of the size in question.

func init() {
	Register(Workload{
		Name:  "reset",
		Doc:   "Reset of an arena of which 4 KB were used since the last one",
		Unit:  "reset",
		Cases: resetCases,
	})
}

const (
	resetSmall  = 64 << 10
	resetLarge  = 64 << 20
	resetUsed   = 4 << 10
	resetTimes  = 2_000 // Resets in a round
	resetArenas = 2     // taking turns
)

// resetNode is what the arenas hold: 64 bytes with pointers.
type resetNode struct {
	next, prev *resetNode
	values     [6]int
}

const (
	resetNodeSize = 64
	resetNodes    = resetUsed / resetNodeSize
)

func resetCases(Config) []Case {
	v := func(bytes int, name string, targets ...Target) Variant {
		return Variant{
			Name:    name,
			Setup:   func() (Instance, error) { return newReset(bytes), nil },
			Targets: targets,
		}
	}
	small, large := "reserved=64KB", "reserved=64MB"
	return []Case{{
		SinglePass: true,
		Variants: []Variant{
			v(resetSmall, small),
			v(resetLarge, large, Target{Metric: MetricTime, Against: small, Bound: AtMost, Value: 1.5}),
		},
	}}
}

// reset is an instance of the workload.
type reset struct {
	arenas  [resetArenas]*arena.Arena
	lanes   [resetArenas]*arena.Lane[resetNode]
	inspect func(sum uint64)
}

func newReset(bytes int) *reset {
	in := &reset{}
	for i := range in.arenas {
		in.arenas[i] = arena.NewArena(arena.Config{FirstChunk: bytes, MaxChunk: bytes, Retain: 2 * bytes})
		in.lanes[i] = arena.LaneOf[resetNode](in.arenas[i])
		// Use all of it once, so that the memory is there and not only promised
		// by the operating system.
		for range bytes / resetNodeSize {
			in.lanes[i].New().values[0] = 1
		}
		in.arenas[i].Reset()
	}
	return in
}

func (in *reset) Round(r *Round) {
	var total time.Duration
	for i := range resetTimes {
		k := i % resetArenas
		first := resetChain(in.lanes[k])
		if in.inspect != nil {
			in.inspect(first.sum())
		}
		start := time.Now()
		in.arenas[k].Reset()
		total += time.Since(start)
	}
	// Reading the clock takes about as long as a small Reset does.
	var clock time.Duration
	for range resetTimes {
		start := time.Now()
		clock += time.Since(start)
	}
	r.Elapsed = max(total-clock, 1)
	r.Ops = resetTimes
}

// resetChain uses up the bytes between two Resets.
func resetChain(lane *arena.Lane[resetNode]) *resetNode {
	first := lane.New()
	last := first
	for i := 1; i < resetNodes; i++ {
		n := lane.New()
		n.values[0] = i
		n.prev = last
		last.next = n
		last = n
	}
	return first
}

func (n *resetNode) sum() uint64 {
	h := uint64(0)
	for ; n != nil; n = n.next {
		h = addInts(h, n.values[:])
	}
	return h
}

func (in *reset) Close() { *in = reset{} }
