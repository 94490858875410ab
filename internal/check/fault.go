package check

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/haven-mem/haven/internal/leak"
)

// A poisoned pointer is an address in the reserved range. It tells which release it
// was by the page that it lies in, so that the fault of whoever follows it, at that
// address or some way behind, tells as much.
const stride = 4096

var faults struct {
	mu    sync.Mutex
	first uintptr     // the range
	count int         // pages in it; 0: not reserved
	pages []*Released // by page; older ones give way
	next  int
}

// page gives r a page of the range and returns its address. What is kept of r does
// not keep the memory.
func page(of *Released) uintptr {
	r := new(Released)
	*r = *of
	r.Mem, r.Left = nil, nil
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.count == 0 {
		first, size := reserve()
		faults.first, faults.count = first, size/stride
	}
	if len(faults.pages) < faults.count {
		faults.pages = append(faults.pages, r)
	} else {
		faults.pages[faults.next] = r
	}
	at := faults.next
	faults.next = (at + 1) % faults.count
	return faults.first + uintptr(at)*stride
}

// releasedAt returns what an address in the range stands for, or nil.
func releasedAt(address uintptr) *Released {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if i := (address - faults.first) / stride; address >= faults.first && i < uintptr(len(faults.pages)) {
		return faults.pages[i]
	}
	return nil
}

// Explain returns the report for a panic value that comes from following a pointer
// out of released memory, and nil for any other. Such a fault is a panic only where
// debug.SetPanicOnFault was called; else it ends the program.
func Explain(recovered any) *Report {
	if e, ok := recovered.(*runtime.TypeAssertionError); ok {
		recovered = faultOf(e)
	}
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	if Guard.Explain != nil {
		if r := Guard.Explain(fault.Addr()); r != nil {
			r.Now = leak.Here("", "").Stack()
			return r
		}
	}
	r := releasedAt(fault.Addr())
	if r == nil {
		return nil
	}
	return &Report{
		What:      "use after release",
		Detail:    fmt.Sprintf("a pointer that was read from released memory was followed, to %#x", fault.Addr()),
		Memory:    r.String(),
		Released:  r.Site.String(),
		Allocated: r.allocations(),
		Now:       Release().String(),
	}
}

// Guard is what package guard knows, which this one must not import: the report for a
// fault at an address, and for what was written to after its release. It is set before
// main.
var Guard struct {
	Explain func(address uintptr) *Report
	Verify  func() []*Report
}

// faultOf returns the fault that printing a failed assertion takes whose interface
// was read from released memory, and has no type.
func faultOf(e *runtime.TypeAssertionError) (fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() }()
	_ = e.Error()
	return nil
}

// Where no range can be reserved there is one that systems leave unmapped, but for
// the first page, whose faults Go takes for those of nil pointers.
const (
	unmapped     = 4096
	unmappedSize = 60 << 10
)
