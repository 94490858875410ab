// Package vitals reads what a process has used so far: CPU time, the garbage
// collector's part of it, collections and memory. It is for the two ends of a
// measurement, whose difference counts.
package vitals

import (
	"runtime/metrics"
	"time"
)

// Vitals are those of a process since its start.
type Vitals struct {
	CPU     time.Duration // user and system
	GCCPU   time.Duration // of the collector, up to the end of its last cycle
	GCs     uint64        // cycles
	Live    uint64        // bytes that the last cycle found in use
	RSS     int64         // bytes in physical memory now
	PeakRSS int64         // the most so far
	FromOS  bool          // CPU, RSS and PeakRSS are the system's; else they are what Go's runtime knows
}

// Read returns the vitals of this process. It costs some tens of microseconds.
func Read() Vitals {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	v := Vitals{
		GCCPU: seconds(samples[0].Value.Float64()),
		GCs:   samples[1].Value.Uint64(),
		Live:  samples[2].Value.Uint64(),
	}
	if v.FromOS = fromOS(&v); !v.FromOS {
		v.CPU = seconds(samples[3].Value.Float64() - samples[4].Value.Float64())
		v.RSS = int64(samples[5].Value.Uint64() - samples[6].Value.Uint64())
		v.PeakRSS = v.RSS
	}
	return v
}

// Since returns what was used after an earlier reading; memory is as it is now.
func (v Vitals) Since(before Vitals) Vitals {
	v.CPU -= before.CPU
	v.GCCPU -= before.GCCPU
	v.GCs -= before.GCs
	return v
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
