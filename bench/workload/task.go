package workload

import (
	"sync"
	"time"
)

// A task is an instance whose round is one function. The workloads of slabs and
// pools are made of tasks: what they compare is how single objects come and go.
type task struct {
	ops     int64                 // in a round
	run     func(r *Round) uint64 // a round; returns a checksum of what it read
	inspect func(sum uint64)      // set by tests
	sum     uint64                // of all rounds, so that reading is not optimised away
}

func (t *task) Round(r *Round) {
	start := time.Now()
	sum := t.run(r)
	if r.Elapsed == 0 {
		r.Elapsed = time.Since(start)
	}
	r.Ops = t.ops
	if t.inspect != nil {
		t.inspect(sum)
	}
	t.sum += sum
}

func (t *task) Close() { t.run = nil }

// together calls f on n goroutines, the caller's among them, with the numbers
// from 0 on, and returns the sum of the results when all have ended.
func together(n int, f func(worker int) uint64) uint64 {
	sums := make([]uint64, n)
	var wg sync.WaitGroup
	wg.Add(n - 1)
	for w := 1; w < n; w++ {
		go func() {
			defer wg.Done()
			sums[w] = f(w)
		}()
	}
	sums[0] = f(0)
	wg.Wait()
	total := uint64(0)
	for _, s := range sums {
		total += s
	}
	return total
}

// A seat is what a worker keeps to itself. It fills the cache lines it is on,
// two of them because processors fetch pairs.
type seat[T any] struct {
	last *T // the worker's latest object: what is stored here escapes
	_    [120]byte
}
