package check

import (
	"fmt"
	"reflect"
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
	first uintptr // the range
	count int     // pages in it; 0: not reserved
	next  int
	known []fault // by page, modulo remembered; older ones give way
}

// remembered is how many releases are known by their page. The pages of the others
// are known as such.
const remembered = 1 << 15

// A fault is what is known of a page. It keeps neither the memory nor more places of
// allocations than a report shows.
type fault struct {
	page      int
	owner     string
	typ       reflect.Type // nil: nothing is known
	n         int          // elements
	released  Site
	allocated places
}

// page gives r, whose allocations were made at those places, a page of the range and
// returns its address.
func page(r *Released, allocated places) uintptr {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.count == 0 {
		first, size := reserve()
		faults.first, faults.count = first, size/stride
	}
	at := faults.next
	if at == len(faults.known) && at < remembered {
		faults.known = append(faults.known, fault{})
	}
	faults.known[at%remembered] = fault{at, r.Owner, r.Type, r.N - (r.To - r.From), r.Site, allocated}
	if faults.next++; faults.next == faults.count {
		faults.next = 0
	}
	return faults.first + uintptr(at)*stride
}

// releasedAt returns what an address in the range stands for, and whether it is one.
// What was released too long ago is not known any more.
func releasedAt(address uintptr) (f fault, poison bool) {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	i := (address - faults.first) / stride
	if faults.count == 0 || address < faults.first || i >= uintptr(faults.count) {
		return fault{}, false
	}
	if k := int(i) % remembered; k < len(faults.known) && faults.known[k].page == int(i) {
		return faults.known[k], true
	}
	return fault{}, true
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
	f, poison := releasedAt(fault.Addr())
	if !poison {
		return nil
	}
	report := &Report{
		What:   "use after release",
		Detail: fmt.Sprintf("a pointer that was read from released memory was followed, to %#x", fault.Addr()),
		Memory: fmt.Sprintf("released too long ago to be known, more than %d releases", remembered),
		Now:    Release().String(),
	}
	if f.typ != nil {
		r := Released{Owner: f.owner, Type: f.typ, N: f.n}
		report.Memory, report.Released, report.Allocated = r.String(), f.released.String(), f.allocated.String()
	}
	return report
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
