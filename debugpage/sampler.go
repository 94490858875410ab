package debugpage

import (
	"sync"
	"time"

	"github.com/haven-mem/haven/internal/outside"
	"github.com/haven-mem/haven/memctx"
)

// sampleEvery is the time from one sample to the next, if they are cheap.
const sampleEvery = 2 * time.Second

// pace returns how long to wait after a sample that took some time, so that
// samples stay under a hundredth of one CPU. They do nothing but compute, apart
// from waiting for locks, so the time is at least the CPU time.
func pace(took time.Duration) time.Duration {
	return max(sampleEvery, 100*took)
}

// sampled is the history of this process.
var (
	sampled     = newHistory()
	startSample sync.Once
)

// startSampling starts the goroutine that samples, if it is not running. It ends
// with the process: it keeps nothing alive but the history.
func startSampling() {
	startSample.Do(func() {
		outside.Do(func() {
			m := newMeter()
			go func() {
				for {
					time.Sleep(sampled.sample(memctx.TakeSnapshot, m))
				}
			}()
		})
	})
}

// sample adds one sample and returns how long to wait until the next.
func (h *history) sample(take func() *memctx.Snapshot, m *meter) time.Duration {
	began := time.Now()
	s := take()
	m.read()
	h.add(s, m)
	wait := pace(time.Since(began))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interval = wait
	return wait
}
