package guard

import (
	"fmt"
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
	for _, r := range check.Merge(bad) {
		if f := told.Load(); f != nil {
			(*f)(r)
		} else {
			check.Print(r)
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
	a := all.region.geometry().near(address, func(i int) *area {
		if i < 0 || i >= len(all.areas) || all.areas[i].whose == "" {
			return nil
		}
		return all.areas[i]
	})
	if a == nil {
		return nil
	}
	return a.explain(address)
}

// explain returns the report for a fault at an address that is about a.
func (a *area) explain(address uintptr) *check.Report {
	r := &check.Report{What: "use after release", Memory: a.whose, Allocated: a.made.Stack(), Released: a.end.Stack()}
	switch {
	case !a.own:
		r.Detail = fmt.Sprintf("a pointer that was read from released memory was followed, to %#x", address)
	case address < a.start:
		r.What, r.Detail = "underrun", fmt.Sprintf("%#x is byte %d before it", address, a.start-address)
	case address >= a.limit:
		r.What, r.Detail = "overrun", fmt.Sprintf("%#x is byte %d behind its end", address, address-a.limit+1)
	default:
		r.Detail = fmt.Sprintf("%#x is byte %d of it", address, address-a.start)
	}
	return r
}

// A geometry is where areas are.
type geometry struct {
	First  uintptr // where the first one begins
	Stride uintptr
	Page   uintptr // what is without access at the end of each, and before the first
}

func (r *region) geometry() geometry {
	g := geometry{First: r.at(0), Stride: r.stride}
	if canOpen {
		g.Page = r.page
	}
	return g
}

// near returns the area that an address is about: the one that it lies in or, for one
// between two, the one whose memory is nearer. known returns an area, or nil if nothing
// is known of it.
func (g geometry) near(address uintptr, known func(int) *area) *area {
	from := address - (g.First - g.Page)
	if from >= maxAreas*g.Stride+g.Page {
		return nil
	}
	i := int(from/g.Stride) - 1 // the page in front of area i+1 is the first of a stride
	if from%g.Stride >= g.Page {
		return known(i + 1)
	}
	a, next := known(i), known(i+1)
	switch {
	case next == nil || !next.own:
		return a
	case a == nil || !a.own || next.start-address < address-a.limit:
		return next
	}
	return a
}
