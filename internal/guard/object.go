package guard

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/leak"
)

// An Object is what is to be guarded in place of an object of an allocator.
type Object struct {
	Type     reflect.Type
	Pointers bool   // there are some in it
	Title    string // of the allocator, as reports call it

	// Owner and StandIn are what the allocator is told when the object is released:
	// a number of its own, and the object that it keeps in the meantime.
	Owner   uintptr
	StandIn unsafe.Pointer

	New func() unsafe.Pointer // makes one of Go's heap
}

// Fits reports whether objects of the size are small enough to be guarded.
func Fits(bytes uintptr) bool { return bytes > 0 && bytes <= maxBytes }

// Place returns a zero object that is guarded, or nil if there is no slot. The caller
// has no locks, and a size that Fits.
func Place(o Object) unsafe.Pointer {
	made := leak.Here("object", "")
	if !o.Pointers && canOpen {
		if p := o.place(func() *area { return placeOwn(o.Type, 1, o.Title, made) }); p != nil {
			return p
		}
	}
	what := &check.Released{Owner: o.Title, Type: o.Type, Mem: o.New(), N: 1}
	return o.place(func() *area {
		a := take(nil)
		if a != nil {
			enter(a, what, made)
		}
		return a
	})
}

// place returns the memory of the area that get returns, for o, or nil.
func (o *Object) place(get func() *area) unsafe.Pointer {
	all.mu.Lock()
	defer unlock()
	a := get()
	if a == nil {
		return nil
	}
	a.owner, a.standIn = o.Owner, o.StandIn
	return a.what.Mem
}

// placeOwn returns a live area with n zero values of a type on its pages, or nil. The
// lock is held.
func placeOwn(typ reflect.Type, n int, title string, made *leak.Site) *area {
	a := take(typ)
	if a == nil {
		return nil
	}
	bytes := uintptr(n) * typ.Size()
	pages := all.region.open(a.index, bytes)
	if pages == nil {
		leave(a)
		return nil
	}
	a.pages, a.own = pages, true
	start := uintptr(0)
	if rand.IntN(2) == 0 {
		start = uintptr(len(pages)) - bytes
	}
	// What is beside the values shows whether somebody wrote there.
	fill(pages[:start])
	clear(pages[start : start+bytes])
	fill(pages[start+bytes:])
	enter(a, &check.Released{Owner: title, Type: typ, Mem: unsafe.Pointer(&pages[start]), N: n}, made)
	return a
}

func fill(b []byte) {
	for i := range b {
		b[i] = check.Pattern
	}
}

// beside returns the report for a write beside the values on pages, or nil.
func (a *area) beside() *check.Report {
	if !a.own {
		return nil
	}
	first := all.region.at(a.index)
	start, end := a.start-first, a.limit-first
	for i, b := range a.pages {
		off := uintptr(i)
		if off >= start && off < end || b == check.Pattern {
			continue
		}
		r := &check.Report{What: "overrun", Memory: a.whose, Allocated: a.made.Stack(), Now: leak.Here("", "").Stack()}
		if off < start {
			r.What = "underrun"
			r.Detail = fmt.Sprintf("byte %d before it was written to and holds %02x", start-off, b)
		} else {
			r.Detail = fmt.Sprintf("byte %d behind its end was written to and holds %02x", off-end+1, b)
		}
		return r
	}
	return nil
}

// Release ends an object that owner releases at p. It returns what Place got as
// StandIn. The report is for a release that is a mistake, of which nothing comes;
// without one, and without a stand-in, the object is none that is guarded. wipe makes
// one of Go's heap zero.
func Release(p unsafe.Pointer, owner uintptr, wipe func(unsafe.Pointer)) (standIn unsafe.Pointer, mistake *check.Report) {
	all.mu.Lock()
	defer unlock()
	a := all.by[uintptr(p)]
	if a == nil {
		return nil, nil
	}
	end := leak.Here("", "")
	if a.state == held || a.owner != owner {
		r := &check.Report{What: "second free", Detail: fmt.Sprintf("%p is free already", p), Memory: a.whose, Allocated: a.made.Stack(), Released: a.end.Stack(), Now: end.Stack()}
		if a.owner != owner {
			r.What, r.Detail = "free of a foreign pointer", fmt.Sprintf("%p is no object of what it is given to", p)
		}
		return nil, r
	}
	found(a.beside())
	if !a.own {
		wipe(p)
	}
	hold(a, end)
	standIn, a.standIn = a.standIn, nil
	return standIn, nil
}
