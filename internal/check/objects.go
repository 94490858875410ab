package check

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Objects is what the check build knows of the objects of a cache: where those in
// use were allocated, and those that were freed, which wait in a queue of their own
// before the cache may hand them out again. The zero Objects is ready; any number of
// goroutines may use it.
type Objects struct {
	mu    sync.Mutex
	by    map[unsafe.Pointer]*object // in use or waiting
	queue []*object                  // waiting, the oldest first
	self  *self
	held  *atomic.Int64 // of waiting
}

type object struct {
	what    *Released
	restore func() // puts back what the object held, instead of zero
	freed   bool
	hidden  bool // its name is not one of those to be checked
}

// waiting is how many bytes wait in all queues.
var waiting atomic.Int64

// heldBy returns a number that is taken from waiting when owner goes.
func heldBy[T any](owner *T) *atomic.Int64 {
	n := new(atomic.Int64)
	runtime.AddCleanup(owner, func(n *atomic.Int64) { waiting.Add(-n.Load()) }, n)
	return n
}

// Alloc takes down that p, of type t, was handed out.
func (o *Objects) Alloc(p unsafe.Pointer, name, owner string, t reflect.Type) {
	if t.Size() == 0 {
		return
	}
	x := &object{
		what:   &Released{Owner: owner, Type: t, Mem: p, N: 1, Marks: []Mark{{0, Here(3)}}},
		hidden: !Poisons(name),
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = make(map[unsafe.Pointer]*object)
		o.enlist()
	}
	o.by[p] = x
}

// Check returns the report for a Free of p that is a mistake, or nil.
func (o *Objects) Check(p unsafe.Pointer, owner string) *Report {
	o.mu.Lock()
	x := o.by[p]
	o.mu.Unlock()
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
// puts it into the queue.
func (o *Objects) Free(p unsafe.Pointer, restore func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x := o.by[p]
	if x == nil {
		return
	}
	x.freed, x.restore, x.what.Site = true, restore, Release()
	if !x.hidden {
		x.what.Poison()
	}
	o.queue = append(o.queue, x)
	waiting.Add(int64(x.what.size()))
	o.held.Add(int64(x.what.size()))
}

// Leave has back take the objects that wait and are to leave the queue, the one that has
// waited longest first: as long as there are too many bytes in all queues, or all of them.
// It returns the report for the first that was written to, with which it ends.
func (o *Objects) Leave(all bool, back func(Held)) *Report {
	for range o.Waiting() { // and not those that come meanwhile
		h, bad := o.next(all)
		if h.P == nil {
			break
		}
		back(h)
		if bad != nil {
			return bad
		}
	}
	return nil
}

// next takes the next object out of the queue, or returns a zero Held.
func (o *Objects) next(all bool) (Held, *Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || !all && waiting.Load() <= int64(set.quarantine) {
		return Held{}, nil
	}
	x := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	p := x.what.Mem
	delete(o.by, p)
	waiting.Add(-int64(x.what.size()))
	o.held.Add(-int64(x.what.size()))
	if x.hidden {
		return Held{p, x.restore}, nil
	}
	return Held{p, x.restore}, x.what.Damage()
}

// Waiting returns how many objects wait; of a nil Objects none.
func (o *Objects) Waiting() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue)
}

// verify returns the reports for objects that wait and were written to.
func (o *Objects) verify() (found []*Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.queue {
		if x.hidden {
			continue
		}
		if bad := x.what.Damage(); bad != nil {
			found = append(found, bad)
			x.hidden = true // once is enough
		}
	}
	return found
}

// find returns the object that an address is in, and how far.
func (o *Objects) find(address uintptr) (*object, uintptr) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for q, x := range o.by {
		// SAFETY: addresses of heap memory, which does not move, are compared.
		if off := address - uintptr(q); off < x.what.size() {
			return x, off
		}
	}
	return nil, 0
}
