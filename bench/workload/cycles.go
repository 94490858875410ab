package workload

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Cycles are rounds that do nothing but collect while something large stays
// alive: what an index or a cache costs in every cycle of the collector. The
// figure is the collector's CPU time per cycle, as the runtime accounts for it;
// the time is the wall time of a cycle.
type cycles struct {
	samples [1]metrics.Sample
}

const (
	cyclesInRound = 3
	cyclesMetric  = "gc-cpu-ns/cycle"
)

func (c *cycles) round(r *Round) {
	runtime.GC() // the first one after a pause also wakes the runtime's threads
	before := c.gcCPU()
	start := time.Now()
	for range cyclesInRound {
		runtime.GC()
	}
	r.Elapsed = time.Since(start)
	r.Ops = cyclesInRound
	r.SetExtra(cyclesMetric, (c.gcCPU()-before)/cyclesInRound)
}

// gcCPU returns the nanoseconds of CPU that the collector has used up to the
// end of the last cycle. The runtime adds them up when a cycle ends, which is
// before runtime.GC returns.
func (c *cycles) gcCPU() float64 {
	c.samples[0].Name = "/cpu/classes/gc/total:cpu-seconds"
	metrics.Read(c.samples[:])
	return c.samples[0].Value.Float64() * 1e9
}
