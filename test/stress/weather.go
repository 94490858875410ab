package stress

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
)

// A mode is the weather in which programs run.
type mode struct {
	name, doc string
	env       []string // of the process; GODEBUG is added to what there is
	each      func(*choices)
}

// maxProcs is the most that GOMAXPROCS is set to.
const maxProcs = 8

// pace is how long the weather stays when it changes all the time.
const pace = 200 * time.Microsecond

var modes = []mode{
	{"plain", "nothing special", nil, nil},
	{"gogc1", "GOGC=1: a collection whenever the heap has grown by a hundredth", []string{"GOGC=1"}, nil},
	{"hammer", "collections one after the other", nil, func(*choices) { runtime.GC() }},
	{"clobberfree", "GODEBUG=clobberfree=1: freed memory is overwritten", []string{"GODEBUG=clobberfree=1", "GOGC=10"}, nil},
	{"checkmark", "GODEBUG=gccheckmark=1: what a collection marked is verified", []string{"GODEBUG=gccheckmark=1", "GOGC=50"}, nil},
	{"stw", "GODEBUG=gcstoptheworld=2: collections, sweeping included, without the program", []string{"GODEBUG=gcstoptheworld=2", "GOGC=10"}, nil},
	{"procs", "GOMAXPROCS changes all the time", nil, func(rng *choices) {
		runtime.GOMAXPROCS(1 + rng.below(maxProcs))
		time.Sleep(pace)
	}},
	{"memlimit", "the limit of memory changes all the time", nil, func(rng *choices) {
		debug.SetMemoryLimit([]int64{4 << 20, 16 << 20, 64 << 20, math.MaxInt64}[rng.below(4)])
		time.Sleep(10 * pace)
	}},
}

func modeNamed(name string) (mode, bool) {
	for _, m := range modes {
		if m.name == name {
			return m, true
		}
	}
	return mode{}, false
}

func modeNames() string {
	var list []string
	for _, m := range modes {
		list = append(list, m.name)
	}
	return strings.Join(list, ", ")
}

// environment is that of a process which runs programs in this mode.
func (m mode) environment() []string {
	env := os.Environ()
	for _, v := range m.env {
		if add, ok := strings.CutPrefix(v, "GODEBUG="); ok && os.Getenv("GODEBUG") != "" {
			v = "GODEBUG=" + os.Getenv("GODEBUG") + "," + add
		}
		env = append(env, v)
	}
	// A race ends the process, whose output is then the finding.
	if os.Getenv("GORACE") == "" {
		env = append(env, "GORACE=halt_on_error=1")
	}
	return env
}

// begin makes the weather until it is told to end.
func (m mode) begin(seed uint64) (end func()) {
	if m.each == nil {
		return func() {}
	}
	rng := &choices{state: mix(^seed)}
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !over.Load() {
			m.each(rng)
		}
	}()
	return func() {
		over.Store(true)
		<-done
	}
}
