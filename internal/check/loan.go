package check

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/heap"
)

// A Loan is an object, or the bytes of a buffer, that a pool hands out and takes
// back. It may be anything, on the heap or not, and part of something larger.
type Loan struct {
	P     unsafe.Pointer
	Type  reflect.Type
	Owner string // the pool, as reports name it
	Part  bool   // a part of it may be put in its place
}

// What is known of the objects of all pools, in one place, since an object may be
// put into another pool than the one that it came from. It keeps none alive: an
// object that is on the heap is known for as long as it lives there.

// A loan is an object that is in use or idle.
type loan struct {
	first, size uintptr
	what        Released // without the memory; Site is where it was put
	idle        bool
	alive       func() bool
	dropped     int // 0: not; else at how many sweeps since
}

// loans are found by an address in them. Those of sizes up to 2ⁿ and above half of
// that have a table of their own, by the addresses where they begin, in units of 2ⁿ.
var loans struct {
	mu     sync.Mutex
	tables [bits.UintSize + 1]map[uintptr][]*loan
	n      int
	sweep  int // the number at which those that died are taken out
}

// The functions of loans are called with the lock held.

func sizeClass(size uintptr) int { return bits.Len(uint(size - 1)) }

// enter adds x.
func enter(x *loan) {
	if loans.n++; loans.n > loans.sweep {
		loans.n = 1
		for n, t := range loans.tables {
			for k, list := range t {
				list = slices.DeleteFunc(list, (*loan).over)
				if len(list) == 0 {
					delete(t, k)
				} else {
					t[k] = list
				}
				loans.n += len(list)
			}
			if len(t) == 0 {
				loans.tables[n] = nil
			}
		}
		loans.sweep = max(1024, 2*loans.n)
	}
	n := sizeClass(x.size)
	if loans.tables[n] == nil {
		loans.tables[n] = make(map[uintptr][]*loan)
	}
	t, k := loans.tables[n], x.first>>n
	// An address that is used again is that of something else.
	t[k] = append(slices.DeleteFunc(t[k], func(y *loan) bool { return y.first == x.first }), x)
}

// over reports whether x is to be taken out. What was dropped is not asked whether
// it lives: while the collector marks, the question keeps it alive, and who watches
// it would take that for a stale pointer. It is known for a sweep or two.
func (x *loan) over() bool {
	if x.dropped > 0 {
		x.dropped++
		return x.dropped > 2
	}
	return !x.alive()
}

// Dropped takes down that r, which was put and has waited, is nobody's from now on
// and is watched.
func Dropped(r *Released) {
	loans.mu.Lock()
	defer loans.mu.Unlock()
	if x := at(uintptr(r.Mem)); x != nil && x.idle {
		x.dropped = 1
	}
}

// remove takes x out.
func remove(x *loan) {
	n := sizeClass(x.size)
	t, k := loans.tables[n], x.first>>n
	t[k] = slices.DeleteFunc(t[k], func(y *loan) bool { return x == y })
	loans.n--
}

// at returns the loan that p points into: rather one that is idle, and rather one
// that begins there.
func at(p uintptr) (found *loan) {
	for n, t := range loans.tables {
		if t == nil {
			continue
		}
		for _, k := range [2]uintptr{p >> n, p>>n - 1} {
			for _, x := range t[k] {
				better := found == nil || x.idle && !found.idle || x.idle == found.idle && x.first == p
				if p-x.first < x.size && better && x.alive() {
					found = x
				}
			}
		}
	}
	return found
}

func (l Loan) first() uintptr { return uintptr(l.P) }

// Got takes down that l was handed out, by the header if that is not nil.
func (l Loan) Got(header unsafe.Pointer) {
	site := Here(3)
	loans.mu.Lock()
	defer loans.mu.Unlock()
	if x := at(uintptr(header)); header != nil && x != nil && x.first == uintptr(header) {
		remove(x)
	}
	alive := onHeap(l.P)
	if x := at(l.first()); x != nil && x.first == l.first() {
		remove(x)
	}
	if alive != nil { // of other memory nobody can say how long it is there
		enter(&loan{
			first: l.first(), size: l.Type.Size(), alive: alive,
			what: Released{Owner: l.Owner, Type: l.Type, N: 1, Marks: []Mark{{0, site}}},
		})
	}
}

// Check returns the report for a Put of l that is a mistake, or nil. What is not
// known may be put, and so may what came from another pool.
func (l Loan) Check() *Report {
	loans.mu.Lock()
	defer loans.mu.Unlock()
	return l.mistake(at(l.first()))
}

func (l Loan) mistake(x *loan) *Report {
	if x == nil || !x.idle && (l.Part || x.first == l.first() && x.size <= l.Type.Size()) {
		return nil
	}
	r := &Report{
		What: "second put", Detail: fmt.Sprintf("%p is put into %s and is idle already", l.P, l.Owner), Memory: x.what.String(),
		Allocated: x.what.allocations(), Now: Release().String(),
	}
	if x.idle {
		r.Released = x.what.Site.String()
	}
	if off := l.first() - x.first; off > 0 || !x.idle {
		r.What, r.Detail = "put of an interior pointer", fmt.Sprintf("%p is put into %s, and points %d bytes into an object of %d", l.P, l.Owner, off, x.size)
	}
	return r
}

// onHeap returns a function that reports whether what lies at p is still there, or
// nil if p does not point into Go's heap, of which alone there are weak pointers.
func onHeap(p unsafe.Pointer) (alive func() bool) {
	if !heap.Has((*byte)(p)) {
		return nil
	}
	w := weak.Make((*byte)(p))
	return func() bool { return w.Value() != nil }
}
