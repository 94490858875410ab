package soak_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/haven-mem/haven/check"
)

// maxProcs is the most that GOMAXPROCS is set to.
const maxProcs = 8

// weather collects garbage all the time, and changes what the runtime goes by:
// GOGC, the limit of memory, the number of processors. It goes on until calm is
// called, which sets everything back.
func weather(round uint64) (calm func()) {
	rng := rand.New(rand.NewPCG(*seed, 1<<62|round))
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		gogc, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
		debug.SetGCPercent(gogc)
		for !end.Load() {
			switch rng.IntN(8) {
			case 0:
				debug.SetGCPercent([]int{-1, 5, 50, 100, 400}[rng.IntN(5)])
			case 1:
				debug.SetMemoryLimit([]int64{8 << 20, 64 << 20, 512 << 20, math.MaxInt64}[rng.IntN(4)])
			case 2:
				runtime.GOMAXPROCS(1 + rng.IntN(maxProcs))
			case 3:
				check.SampleStacks([]int{0, 1, 128}[rng.IntN(3)])
			default:
				runtime.GC()
			}
		}
		debug.SetGCPercent(gogc)
		debug.SetMemoryLimit(limit)
		check.SampleStacks(128)
		runtime.GOMAXPROCS(maxProcs) // as in a round without
	}()
	return func() {
		end.Store(true)
		<-done
	}
}
