package debugpage

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"

	"github.com/haven-mem/haven/internal/clock"
)

var began = clock.Now()

// A meter reads the runtime's figures. It is for one goroutine at a time.
type meter struct {
	samples []metrics.Sample
}

// What a meter reads, in this order.
const (
	heapObjects = iota
	heapReleased
	mapped
	heapGoal
	memoryLimit
	cycles
	goroutines
	gcCPU
	totalCPU
)

func newMeter() *meter {
	m := &meter{make([]metrics.Sample, totalCPU+1)}
	for i, name := range [...]string{
		heapObjects:  "/memory/classes/heap/objects:bytes",
		heapReleased: "/memory/classes/heap/released:bytes",
		mapped:       "/memory/classes/total:bytes",
		heapGoal:     "/gc/heap/goal:bytes",
		memoryLimit:  "/gc/gomemlimit:bytes",
		cycles:       "/gc/cycles/total:gc-cycles",
		goroutines:   "/sched/goroutines:goroutines",
		gcCPU:        "/cpu/classes/gc/total:cpu-seconds",
		totalCPU:     "/cpu/classes/total:cpu-seconds",
	} {
		m.samples[i].Name = name
	}
	return m
}

// read reads all figures at once, which costs some microseconds.
func (m *meter) read() { metrics.Read(m.samples) }

// count returns a figure that was read, or 0 if this version of Go has none.
func (m *meter) count(i int) uint64 {
	if v := m.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return 0
}

// seconds is count for CPU time.
func (m *meter) seconds(i int) float64 {
	if v := m.samples[i].Value; v.Kind() == metrics.KindFloat64 {
		return v.Float64()
	}
	return 0
}

// readProcess returns the figures of the process as they are now.
func readProcess() Process {
	m := newMeter()
	m.read()
	p := Process{
		PID:        os.Getpid(),
		Go:         runtime.Version(),
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		Uptime:     began.Age(),
		Procs:      runtime.GOMAXPROCS(0),
		Goroutines: int(m.count(goroutines)),
		Heap:       m.count(heapObjects),
		HeapGoal:   m.count(heapGoal),
		Mapped:     m.count(mapped) - m.count(heapReleased),
		GCCycles:   m.count(cycles),
		GCCPU:      fraction(m.seconds(gcCPU), m.seconds(totalCPU)),
	}
	if len(os.Args) > 0 {
		p.Program = filepath.Base(os.Args[0])
	}
	if limit := m.count(memoryLimit); limit < math.MaxInt64 {
		p.MemoryLimit = limit
	}
	return p
}

// fraction returns part/whole within 0 and 1, and 0 of nothing: JSON knows no
// NaN.
func fraction(part, whole float64) float64 {
	if !(part > 0 && whole > 0) {
		return 0
	}
	return min(part/whole, 1)
}
