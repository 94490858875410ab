package guard

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/check"
)

// told is called with each report.
var told atomic.Pointer[func(*check.Report)]

// Tell has f called with each mistake that is found without a fault, from now on; nil:
// they are printed.
func Tell(f func(*check.Report)) {
	if f == nil {
		told.Store(nil)
		return
	}
	told.Store(&f)
}

// tell reports what was found. No lock is held.
func tell(bad []*check.Report) {
	for _, r := range bad {
		if f := told.Load(); f != nil {
			(*f)(r)
		} else {
			fmt.Fprintln(os.Stderr, r.Error())
		}
	}
}

// Verify returns a report for each write to memory that was released, once.
func Verify() (found []*check.Report) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, a := range all.held {
		if r := a.damage(); r != nil {
			found = append(found, r)
		}
	}
	return found
}

// explain returns the report for a fault at an address, or nil if it is none of the
// guard's.
func explain(address uintptr) *check.Report {
	all.mu.Lock()
	defer all.mu.Unlock()
	if !all.ready {
		return nil
	}
	a := near(address)
	if a == nil {
		return nil
	}
	r := &check.Report{Memory: a.what.String(), Allocated: a.made.Stack(), Released: a.end.Stack()}
	if !a.own {
		r.What = "use after release"
		r.Detail = fmt.Sprintf("a pointer that was read from released memory was followed, to %#x", address)
		return r
	}
	start, end := a.bounds()
	switch {
	case address < start:
		r.What, r.Detail = "underrun", fmt.Sprintf("%#x is %d bytes before it", address, start-address)
	case address >= end:
		r.What, r.Detail = "overrun", fmt.Sprintf("%#x is byte %d behind its end", address, address-end+1)
	default:
		r.What, r.Detail = "use after release", fmt.Sprintf("%#x is byte %d of it", address, address-start)
	}
	if a.state != live && r.What != "use after release" {
		r.What += " after release"
	}
	return r
}

// bounds returns where the memory of an area on pages of its own is.
func (a *area) bounds() (start, end uintptr) {
	return a.start, a.start + uintptr(a.what.N)*a.what.Type.Size()
}

// near returns the area that an address is about: the one that it lies in or, for one
// between two, the one whose memory is nearer. The lock is held.
func near(address uintptr) *area {
	r := &all.region
	first, before := r.at(0), uintptr(0)
	if canOpen {
		before = r.page
	}
	if address < first-before || address >= r.at(maxAreas) {
		return nil
	}
	known := func(i int) *area {
		if i < 0 || i >= len(all.areas) || all.areas[i].what == nil || all.areas[i].what.Type == nil {
			return nil
		}
		return all.areas[i]
	}
	if address < first {
		return known(0)
	}
	i := int((address - first) / r.stride)
	a, next := known(i), known(i+1)
	if !canOpen || address < r.at(i+1)-r.page || next == nil || !next.own {
		return a
	}
	if a == nil || !a.own {
		return next
	}
	_, end := a.bounds()
	if start, _ := next.bounds(); start-address < address-end {
		return next
	}
	return a
}
