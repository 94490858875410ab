package check

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/haven-mem/haven/internal/registry"
)

// Objects is what the check build knows of the objects of a cache: where those in
// use were allocated, and those that were freed, which wait before the cache may hand
// them out again. The zero Objects is ready; any number of goroutines may use it.
type Objects struct {
	queue
	known sync.Mutex
	by    map[unsafe.Pointer]*object // in use or waiting
	self  *self
}

type object struct {
	what   *Released
	freed  bool
	hidden bool // its name is not one of those to be checked
}

// everyone has the caches whose objects are known, to name the one that a foreign
// pointer belongs to.
var everyone registry.List[self]

// A self stands for Objects in weak pointers; see queueSelf.
type self struct{ o *Objects }

// Alloc takes down that p, of type t, was handed out.
func (o *Objects) Alloc(p unsafe.Pointer, name, owner string, t reflect.Type) {
	if t.Size() == 0 {
		return
	}
	x := &object{
		what:   &Released{Owner: owner, Type: t, Mem: p, N: 1, Marks: []Mark{{0, Here(4)}}},
		hidden: !Poisons(name),
	}
	o.known.Lock()
	defer o.known.Unlock()
	if o.by == nil {
		o.by = make(map[unsafe.Pointer]*object)
		o.self = &self{o}
		everyone.Add(o.self)
	}
	o.by[p] = x
}

// Check returns the report for a Free of p that is a mistake, or nil.
func (o *Objects) Check(p unsafe.Pointer, owner string) *Report {
	o.known.Lock()
	x := o.by[p]
	o.known.Unlock()
	switch {
	case x == nil:
		r := &Report{What: "free of a foreign pointer", Detail: fmt.Sprintf("%p is no object of %s that is in use", p, owner), Now: Release().String()}
		if y, off := findObject(uintptr(p)); y != nil {
			r.Memory, r.Allocated = y.what.String(), y.what.allocations()
			if off > 0 {
				r.What, r.Detail = "free of an interior pointer", fmt.Sprintf("%p points %d bytes into an object", p, off)
			}
			if y.freed {
				r.Released = y.what.Site.String()
			}
		}
		return r
	case x.freed:
		return &Report{
			What: "second free", Detail: fmt.Sprintf("%p is free already", p), Memory: x.what.String(),
			Allocated: x.what.allocations(), Released: x.what.Site.String(), Now: Release().String(),
		}
	}
	return nil
}

// Free poisons p, which Check has found nothing wrong with and which is zero, and
// has it wait until back is called.
func (o *Objects) Free(p unsafe.Pointer, back func()) {
	o.known.Lock()
	x := o.by[p]
	if x != nil {
		x.freed, x.what.Site = true, Release()
	}
	o.known.Unlock()
	if x == nil {
		return
	}
	w := Waiter{Cost: int(x.what.size()), Back: func() {
		o.known.Lock()
		delete(o.by, p)
		o.known.Unlock()
		back()
	}}
	if !x.hidden {
		w.What = []*Released{x.what}
	}
	o.wait(w, 0)
}

// Leave has objects go back that have waited long enough, or all, up to one that was
// written to, for which it returns the report.
func (o *Objects) Leave(all bool) *Report { return o.queue.Leave(all, math.MaxInt, math.MaxInt) }

// find returns the object that an address is in, and how far.
func (o *Objects) find(address uintptr) (*object, uintptr) {
	o.known.Lock()
	defer o.known.Unlock()
	for q, x := range o.by {
		// SAFETY: addresses of heap memory, which does not move, are compared.
		if off := address - uintptr(q); off < x.what.size() {
			return x, off
		}
	}
	return nil, 0
}

// findObject returns the object of any cache that an address is in, and how far.
func findObject(address uintptr) (*object, uintptr) {
	for s := range everyone.All() {
		if x, off := s.o.find(address); x != nil {
			return x, off
		}
	}
	return nil, 0
}
