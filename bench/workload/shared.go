package workload

import (
	"fmt"
	"sync"

	"github.com/haven-mem/haven/arena"
)

// Workload shared has many goroutines that take an arena, allocate ten objects of 64
// bytes in it and give it back, over and over: as little work as somebody takes an arena
// for, so that what sharing them costs is seen. An arena that each goroutine has for
// itself is what nothing shared can be faster than.

func init() {
	Register(Workload{
		Name:  "shared",
		Doc:   "an arena taken, ten objects allocated in it, and the arena given back",
		Unit:  "arena",
		Cases: sharedCases,
	})
}

const (
	sharedTurns   = 1_000_000 // in a round, of all goroutines
	sharedQuick   = 200_000
	sharedObjects = 10
)

func sharedCases(cfg Config) (cases []Case) {
	n := sharedTurns
	if cfg.Quick {
		n = sharedQuick
	}
	for _, goroutines := range []int{2, 8, 64} {
		cases = append(cases, Case{
			Name: fmt.Sprintf("goroutines=%d", goroutines),
			Variants: variantsOf([]string{arenaReset, arenaFresh, arenaPool, syncPool}, map[string][]Target{
				arenaPool: {fasterThan(syncPool, 1), {Metric: MetricTime, Against: arenaReset, Bound: AtMost, Value: 1.3}},
			}, func(name string) (Instance, error) { return newShared(name, goroutines, n), nil }),
		})
	}
	return cases
}

// newShared returns the instance of a variant with n turns of all goroutines together.
func newShared(name string, goroutines, n int) Instance {
	n /= goroutines
	var loop func(w int) uint64
	switch name {
	case arenaReset:
		arenas := make([]*arena.Arena, goroutines)
		for w := range arenas {
			arenas[w] = arena.NewArena()
		}
		loop = func(w int) (sum uint64) {
			a := arenas[w]
			for i := range n {
				sum += sharedWork(a, i)
				a.Reset()
			}
			return sum
		}
	case arenaFresh:
		loop = func(int) (sum uint64) {
			for i := range n {
				sum += sharedWork(arena.NewArena(), i)
			}
			return sum
		}
	case arenaPool:
		pool := arena.NewPool()
		loop = func(int) (sum uint64) {
			for i := range n {
				a := pool.Get()
				sum += sharedWork(a, i)
				pool.Put(a)
			}
			return sum
		}
	case syncPool:
		pool := sync.Pool{New: func() any { return arena.NewArena() }}
		loop = func(int) (sum uint64) {
			for i := range n {
				a := pool.Get().(*arena.Arena)
				sum += sharedWork(a, i)
				a.Reset()
				pool.Put(a)
			}
			return sum
		}
	default:
		panic("workload: no variant " + name)
	}
	return &task{
		ops: int64(goroutines * n),
		run: func(*Round) uint64 { return together(goroutines, loop) },
	}
}

// sharedWork is what is done in an arena. All objects are in a list, and have to be zero.
func sharedWork(a *arena.Arena, i int) (sum uint64) {
	var last *pairObject
	for k := range sharedObjects {
		p := arena.New[pairObject](a)
		p.next = last
		sum += p.use(i + k)
		last = p
	}
	return sum
}
