package check

import (
	"fmt"
	"reflect"
	"sync"
)

// A poisoned pointer is an address in the reserved range. It tells which release it
// was by the page that it lies in, so that the fault of whoever follows it, at that
// address or some way behind, tells as much. A page has room for all that a poisoned
// length reaches.
const stride = 1 << 16

var faults struct {
	mu     sync.Mutex
	first  uintptr // the range
	stride uintptr // from one page to the next
	count  int     // pages in it; 0: not reserved
	next   int
	known  []fault // by page, modulo remembered; older ones give way
	note   func(Page)
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
		faults.first, faults.stride = first, stride
		if first == unmapped {
			faults.stride = unmapped // or all had one
		}
		faults.count = size / int(faults.stride)
	}
	at := faults.next
	if at == len(faults.known) && at < remembered {
		faults.known = append(faults.known, fault{})
	}
	faults.known[at%remembered] = fault{at, r.Owner, r.Type, r.N - (r.To - r.From), r.Site, allocated}
	if faults.next++; faults.next == faults.count {
		faults.next = 0
	}
	address := faults.first + uintptr(at)*faults.stride
	if faults.note != nil {
		faults.note(faults.known[at%remembered].noted(address))
	}
	return address
}

// A Page is what another process is to know of a release, which explains the faults of
// this one.
type Page struct {
	First, Stride uintptr // where pages are
	Count         int
	Index         int
	Address       uintptr
	Memory        string
	Made, End     []uintptr // where the first allocation and the release were
}

// NotePages has f called with each page that a release gets from now on, under a lock.
func NotePages(f func(Page)) {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	faults.note = f
}

func (f *fault) noted(address uintptr) Page {
	return Page{
		First: faults.first, Stride: faults.stride, Count: faults.count, Index: f.page, Address: address,
		Memory: f.memory().memory, Made: f.allocated.sites[0].pcs(), End: f.released.pcs(),
	}
}

// releasedAt returns what an address in the range stands for, and whether it is one.
// What was released too long ago is not known any more.
func releasedAt(address uintptr) (f fault, poison bool) {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.count == 0 || address < faults.first || address-faults.first >= uintptr(faults.count)*faults.stride {
		return fault{}, false
	}
	i := (address - faults.first) / faults.stride
	if k := int(i) % remembered; k < len(faults.known) && faults.known[k].page == int(i) {
		return faults.known[k], true
	}
	return fault{}, true
}

// memory says what is known of the memory.
func (f *fault) memory() history {
	if f.typ == nil {
		return history{memory: fmt.Sprintf("released too long ago to be known, more than %d releases", min(remembered, faults.count))}
	}
	r := Released{Owner: f.owner, Type: f.typ, N: f.n}
	return history{r.String(), f.allocated.String(), f.released.String()}
}

// Where no range can be reserved there is one that systems leave unmapped, but for
// the first page, whose faults Go takes for those of nil pointers.
const (
	unmapped     = 4096
	unmappedSize = 60 << 10
)
