package workload

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Workload burst allocates 10,000 objects of a KiB at once, frees all of them,
// and then does nothing for half a minute: what is still held of the peak's
// 10 MB, by whom, and for how long?
//
// A service that idles still makes a little garbage, so that there is a
// collection every now and then. Here it is one each second, at the second, by
// runtime.GC in all variants. The figures are the bytes of heap spans in use
// (MemStats.HeapInuse) after the collection at that second, less what was in use
// before the burst: memory that neither objects of other sizes nor the operating
// system can have. What an allocator gives up because of a collection is freed
// by the next one.
//
// The time is that of the burst, all allocating and all freeing. It is measured
// once, on cold memory.

func init() {
	Register(Workload{
		Name:  "burst",
		Doc:   "10,000 objects of 1 KiB at once, then none: what is held 1, 5 and 30 s later",
		Unit:  "object",
		Cases: burstCases,
	})
}

const (
	burstObjects = 10_000
	burstWorkers = 4
)

// The seconds at which memory is measured.
var (
	burstMarks      = []int{1, 5, 30}
	burstMarksQuick = []int{1, 2}
)

// burstSecond is the time between collections. Tests make it shorter.
var burstSecond = time.Second

// burstObject takes 1016 bytes on machines of 64 bits. The heap adds a word to
// objects of this size that have pointers: together they fill the size class of
// 1 KiB.
type burstObject struct {
	next *burstObject
	data [1016 - 8]byte
}

func burstCases(cfg Config) []Case {
	marks := burstMarks
	if cfg.Quick {
		marks = burstMarksQuick
	}
	return []Case{{
		Concurrent: true,
		Variants: variantsOf([]string{heapNew, syncPool, dequeList, slabCache, poolPool}, nil,
			func(name string) (Instance, error) { return newBurst(name, marks), nil }),
	}}
}

// burst is an instance of the workload.
type burst struct {
	task
	objects source[burstObject]
	marks   []int
	held    [burstWorkers][]*burstObject
	before  uint64
	stats   runtime.MemStats
}

func newBurst(name string, marks []int) Instance {
	in := &burst{objects: newSource[burstObject](name, burstObjects), marks: marks}
	for w := range in.held {
		in.held[w] = make([]*burstObject, burstObjects/burstWorkers)
	}
	in.before = in.inUse()
	in.task = task{ops: burstObjects, run: in.round}
	return in
}

// inUse runs a collection and returns the bytes of the spans that are in use
// after it.
func (in *burst) inUse() uint64 {
	runtime.GC()
	runtime.ReadMemStats(&in.stats)
	return in.stats.HeapInuse
}

func (in *burst) round(r *Round) uint64 {
	start := time.Now()
	sum := in.peak()
	end := time.Now()
	r.Elapsed = end.Sub(start)

	for s := 1; s <= in.marks[len(in.marks)-1]; s++ {
		time.Sleep(time.Until(end.Add(time.Duration(s) * burstSecond)))
		now := in.inUse()
		if slices.Contains(in.marks, s) {
			r.SetExtra(fmt.Sprintf("after-%ds-bytes", s), max(float64(now)-float64(in.before), 0))
		}
	}
	return sum
}

// peak allocates everything, has it in use all at once, and frees it.
func (in *burst) peak() uint64 {
	var allocated sync.WaitGroup
	allocated.Add(burstWorkers)
	return together(burstWorkers, func(w int) uint64 {
		held := in.held[w]
		for i := range held {
			p := in.objects.alloc()
			p.data[0] += byte(i)
			p.data[len(p.data)-1]++
			held[i] = p
		}
		allocated.Done()
		allocated.Wait()
		sum := uint64(0)
		for i, p := range held {
			sum += uint64(p.data[0]) + uint64(p.data[len(p.data)-1])<<16
			in.objects.free(p)
			held[i] = nil
		}
		return sum
	})
}
