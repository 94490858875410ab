package bench

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/haven-mem/haven/bench/workload"
)

// A meter measures the rounds of one instance, in the child. Its parts are
// allocated up front, so that nothing of it shows in what it measures.
type meter struct {
	hist    workload.Histogram
	warm    workload.Histogram // of passes that are not measured
	round   workload.Round
	before  runtime.MemStats
	after   runtime.MemStats
	samples []metrics.Sample
	extras  []workload.Extra // sums over the passes of a round
}

// Places in meter.samples.
const (
	sampleGC = iota
	sampleGCIdle
)

func newMeter() *meter {
	m := &meter{
		samples: []metrics.Sample{
			sampleGC:     {Name: "/cpu/classes/gc/total:cpu-seconds"},
			sampleGCIdle: {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		},
		extras: make([]workload.Extra, 0, 16),
	}
	m.round.Latencies = &m.hist
	return m
}

// gcCPU returns the CPU time of the collector so far, up to the end of the
// last cycle, and the part of it that ran at idle priority.
func (m *meter) gcCPU() (total, idle time.Duration) {
	metrics.Read(m.samples)
	seconds := func(i int) time.Duration {
		if m.samples[i].Value.Kind() != metrics.KindFloat64 {
			return 0 // a runtime without this metric
		}
		return time.Duration(m.samples[i].Value.Float64() * 1e9)
	}
	return seconds(sampleGC), seconds(sampleGCIdle)
}

// run does passes passes of inst as one round. It returns the round and the
// wall time of the passes, and not before the process has come to rest.
func (m *meter) run(inst workload.Instance, passes int) (RoundResult, time.Duration, error) {
	var res RoundResult
	var wall time.Duration
	m.warmUp(inst, passes)

	gc0, idle0 := m.gcCPU()
	m.extras = m.extras[:0]
	runtime.ReadMemStats(&m.before)
	for range passes {
		m.round.Clear()
		start := time.Now()
		inst.Round(&m.round)
		elapsed := time.Since(start)

		wall += elapsed
		if m.round.Elapsed > 0 {
			elapsed = m.round.Elapsed
		}
		if m.round.Ops <= 0 {
			return res, wall, fmt.Errorf("a round reported %d operations", m.round.Ops)
		}
		res.Ops += m.round.Ops
		res.NS += int64(elapsed)
		m.addExtras(m.round.Extras())
	}
	runtime.ReadMemStats(&m.after)
	res.Mallocs = m.after.Mallocs - m.before.Mallocs
	res.AllocBytes = m.after.TotalAlloc - m.before.TotalAlloc

	rest()
	gc1, idle1 := m.gcCPU()
	runtime.ReadMemStats(&m.after)
	res.GCs = m.after.NumGC - m.before.NumGC
	res.GCCPUNS = int64(gc1 - gc0)
	res.GCIdleNS = int64(idle1 - idle0)
	for _, e := range m.extras {
		res.Extras = append(res.Extras, workload.Extra{Name: e.Name, Value: e.Value / float64(passes)})
	}
	// A round too fast for the clock would make infinite ratios.
	res.NS = max(res.NS, 1)
	return res, wall, nil
}

// warmUp does a quarter of a round's passes. While the other variants had their
// turns this process slept, and its runtime gave free pages back; the first
// passes get them from the system again, which is a large and random part of a
// short round. A round of one pass is long enough as it is.
func (m *meter) warmUp(inst workload.Instance, passes int) {
	n := (passes + 2) / 4
	if n == 0 {
		return
	}
	m.round.Latencies = &m.warm
	for range n {
		m.round.Clear()
		inst.Round(&m.round)
	}
	m.round.Latencies = &m.hist
	rest()
}

func (m *meter) addExtras(extras []workload.Extra) {
next:
	for _, e := range extras {
		for i := range m.extras {
			if m.extras[i].Name == e.Name {
				m.extras[i].Value += e.Value
				continue next
			}
		}
		m.extras = append(m.extras, e)
	}
}

// latency returns the percentiles so far, nil when there are no latencies.
func (m *meter) latency() *Latency {
	if m.hist.Count() == 0 {
		return nil
	}
	return &Latency{
		Count:  m.hist.Count(),
		P50NS:  int64(m.hist.Quantile(0.50)),
		P99NS:  int64(m.hist.Quantile(0.99)),
		P999NS: int64(m.hist.Quantile(0.999)),
	}
}

// Waiting for rest: the process counts as at rest when it used less than a
// fifth of one core during restStep. A collection that is marking while the
// workload stands still uses all cores, so one quiet step is telling, and two
// in a row leave no doubt. restLimit is for a workload that leaves a goroutine
// running, against the rules: the run goes on, with worse figures.
const (
	restStep  = 500 * time.Microsecond
	restLimit = 5 * time.Second
)

// rest returns when background work of the runtime has ended.
func rest() {
	awaitQuiet(cpuTime, func() time.Duration {
		from := time.Now()
		time.Sleep(restStep)
		return time.Since(from)
	})
}

// awaitQuiet is rest with its clocks as arguments: the CPU time used so far,
// and a wait of about restStep that returns how long it was.
func awaitQuiet(cpu func() (time.Duration, bool), wait func() time.Duration) {
	last, ok := cpu()
	if !ok {
		for range 10 {
			wait()
		}
		return
	}
	var waited time.Duration
	for quiet := 0; quiet < 2 && waited < restLimit; {
		step := wait()
		waited += step
		now, _ := cpu()
		if now-last < step/5 {
			quiet++
		} else {
			quiet = 0
		}
		last = now
	}
}
