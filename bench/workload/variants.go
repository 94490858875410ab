package workload

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// A program is a piece of work, the unit, that is written once for each way of
// allocating. What a unit makes hangs on its root, of type R; L is the lane or
// the struct of lanes that the version for lanes takes.
//
// The five versions must do the same: they get the same i, the number of the
// unit in its round.
type program[R, L any] struct {
	units int   // in a round
	ops   int64 // in a round
	keep  int   // units alive at a time, over the ends of rounds; 0 stands for 1
	whole bool  // instead, all units of a round stay alive until it ends
	timed bool  // record the latency of every unit
	noisy bool  // another goroutine calls runtime.GC all the while

	// litter is how many bytes of garbage are made on Go's heap beside each unit, as
	// the rest of a program does.
	litter int

	heap  func(i int) R
	arena func(mem *arena.Arena, i int) R
	lanes func(mem *arena.Arena) L
	lane  func(lane L, i int) R
	bump  func(mem *bump.Arena, i int) R

	// use, if not nil, reads what a unit made, as a part of it. The round
	// keeps the sum of the results, so that reading is not optimised away.
	use func(root R) uint64

	// check returns a number that is the same for equal contents, also of a
	// root that is broken. Only tests call it, before use.
	check func(root R) uint64

	close func() // may be nil
}

// A slot holds a unit that is alive, and the memory it is in. In modes that
// reuse memory, that stays with the slot.
type slot[R, L any] struct {
	root  R
	arena *arena.Arena
	lanes L
	bump  *bump.Arena
}

// The names of variants say where memory comes from, and what becomes of it
// after each unit:
//
//   - fresh: a new arena for every unit, dropped after it
//   - reset: one arena, reset after every unit
//   - pool: an arena got from an arena.Pool for every unit and put back
//   - pool+earn: the same with Reuse Earn, after its trials
//   - pool+never: the same with Reuse Never
const (
	heapNew    = "new"
	arenaFresh = "arena+fresh"
	arenaReset = "arena+reset"
	arenaPool  = "arena+pool"
	arenaEarn  = "arena+pool+earn"
	arenaNever = "arena+pool+never"
	laneFresh  = "lane+fresh"
	laneReset  = "lane+reset"
	lanePool   = "lane+pool"
	bumpFresh  = "bump+fresh"
	bumpReset  = "bump+reset"
)

var allVariants = []string{heapNew, arenaFresh, arenaReset, arenaPool, laneFresh, laneReset, bumpFresh, bumpReset}

// An instance runs a program in one of the ways above.
type instance[R, L any] struct {
	*program[R, L]
	mode  string
	pool  *arena.Pool
	slots []slot[R, L]
	next  int    // slot of the next unit
	sum   uint64 // of what use returned

	// inspect is set by tests.
	inspect func(sum uint64)
}

func newInstance[R, L any](p *program[R, L], mode string) *instance[R, L] {
	n := max(p.keep, 1)
	if p.whole {
		n = p.units
	}
	conf := arena.Config{}
	switch mode {
	case arenaEarn:
		conf.Reuse = arena.Earn
	case arenaNever:
		conf.Reuse = arena.Never
	}
	return &instance[R, L]{program: p, mode: mode, pool: arena.NewPool(conf), slots: make([]slot[R, L], n)}
}

// earn runs units until the pool has earned to use memory again.
func (in *instance[R, L]) earn() error {
	for collections := 0; in.mode == arenaEarn; collections++ {
		s := in.pool.Stats().Reuse
		switch {
		case s.Earned:
			return nil
		case collections == 100:
			return fmt.Errorf("workload: the pool is not through with its trials after %d collections: %v", collections, s)
		}
		for i := range s.Trials - s.Trial {
			in.build(&in.slots[0], i)
			in.end(&in.slots[0])
		}
		runtime.GC()
	}
	return nil
}

// garbage makes what is stored in it escape.
var garbage []byte

// build runs unit i in s. The root goes into the slot, which is on the heap:
// so what the version for the heap makes escapes.
func (in *instance[R, L]) build(s *slot[R, L], i int) {
	switch in.mode {
	case heapNew:
		s.root = in.heap(i)
	case arenaFresh:
		s.arena = arena.NewArena()
		s.root = in.arena(s.arena, i)
	case arenaReset:
		if s.arena == nil {
			s.arena = arena.NewArena()
		}
		s.root = in.arena(s.arena, i)
	case arenaPool, arenaEarn, arenaNever:
		s.arena = in.pool.Get()
		s.root = in.arena(s.arena, i)
	case laneFresh:
		s.arena = arena.NewArena()
		s.lanes = in.lanes(s.arena)
		s.root = in.lane(s.lanes, i)
	case laneReset:
		if s.arena == nil {
			s.arena = arena.NewArena()
			s.lanes = in.lanes(s.arena)
		}
		s.root = in.lane(s.lanes, i)
	case lanePool:
		s.arena = in.pool.Get()
		s.lanes = in.lanes(s.arena)
		s.root = in.lane(s.lanes, i)
	case bumpFresh:
		s.bump = new(bump.Arena)
		s.root = in.bump(s.bump, i)
	case bumpReset:
		if s.bump == nil {
			s.bump = new(bump.Arena)
		}
		s.root = in.bump(s.bump, i)
	default:
		panic("workload: no variant " + in.mode)
	}
}

// end ends the unit in s, if there is one.
func (in *instance[R, L]) end(s *slot[R, L]) {
	var none R
	s.root = none
	switch in.mode {
	case arenaReset, laneReset:
		s.arena.Reset()
	case arenaPool, arenaEarn, arenaNever, lanePool:
		in.pool.Put(s.arena)
		s.arena = nil
	case arenaFresh, laneFresh, bumpFresh:
		*s = slot[R, L]{}
	case bumpReset:
		if s.bump != nil {
			s.bump.Reset()
		}
	}
}

func (in *instance[R, L]) Round(r *Round) {
	if in.noisy {
		stop := hammer()
		defer stop()
	}
	start := time.Now()
	last := start
	for i := range in.units {
		s := &in.slots[in.next]
		if in.litter > 0 {
			garbage = make([]byte, in.litter)
		}
		in.build(s, i)
		if in.inspect != nil {
			in.inspect(in.check(s.root))
		}
		if in.use != nil {
			in.sum += in.use(s.root)
		}
		if in.next++; in.next == len(in.slots) {
			in.next = 0
		}
		if !in.whole {
			in.end(&in.slots[in.next]) // the oldest
		}
		if in.timed {
			now := time.Now()
			r.Latencies.Add(now.Sub(last))
			last = now
		}
	}
	if in.whole {
		for i := range in.slots {
			in.end(&in.slots[i])
		}
	}
	r.Elapsed = time.Since(start)
	r.Ops = in.ops
}

func (in *instance[R, L]) Close() {
	in.slots = nil
	if in.close != nil {
		in.close()
	}
}

// hammer calls runtime.GC in a loop, from before it returns until after stop
// was called.
func hammer() (stop func()) {
	var ended atomic.Bool
	running, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		close(running)
		for !ended.Load() {
			runtime.GC()
		}
	}()
	<-running
	return func() {
		ended.Store(true)
		<-done
	}
}

// variants returns the variants of a program under the given names. Setup
// calls load in the variant's own process, so that it may build data.
func variants[R, L any](load func() (*program[R, L], error), targets map[string][]Target, names ...string) []Variant {
	return variantsOf(names, targets, func(name string) (Instance, error) {
		p, err := load()
		if err != nil {
			return nil, err
		}
		in := newInstance(p, name)
		return in, in.earn()
	})
}

// variantsOf returns a variant for each name, made by setup.
func variantsOf(names []string, targets map[string][]Target, setup func(name string) (Instance, error)) []Variant {
	for name := range targets {
		if !slices.Contains(names, name) {
			panic("workload: target for " + name + ", which is no variant")
		}
	}
	var vs []Variant
	for _, name := range names {
		vs = append(vs, Variant{
			Name:    name,
			Setup:   func() (Instance, error) { return setup(name) },
			Targets: targets[name],
		})
	}
	return vs
}

// faster is the target of being n times as fast as new; 1 means not slower.
func faster(n float64) Target { return fasterThan(heapNew, n) }

// fasterThan is faster against another variant.
func fasterThan(variant string, n float64) Target {
	return Target{Metric: MetricTime, Against: variant, Bound: AtLeast, Value: n}
}

// less is the target of n times less than new of some metric.
func less(metric string, n float64) Target {
	return Target{Metric: metric, Against: heapNew, Bound: AtLeast, Value: n}
}

// notAbove is the target of no more than new of some metric.
func notAbove(metric string) Target {
	return Target{Metric: metric, Against: heapNew, Bound: AtMost, Value: 1}
}

// atMost is an absolute target.
func atMost(metric string, value float64) Target {
	return Target{Metric: metric, Bound: AtMost, Value: value}
}

// noAllocs is the target of no heap allocation.
func noAllocs() Target { return atMost(MetricAllocs, 0) }

// add mixes v into the checksum h.
func add(h, v uint64) uint64 {
	h = (h ^ v) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// addString mixes a string into the checksum h.
func addString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = add(h, uint64(s[i]))
	}
	return add(h, uint64(len(s)))
}
