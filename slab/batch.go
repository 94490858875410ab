package slab

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// AllocBatch fills dst with objects, each as Alloc returns it: all of dst, or
// none and an error that wraps [ErrExhausted]. It costs less than as many calls
// of Alloc.
func (c *Cache[T]) AllocBatch(dst []*T) error {
	return c.core.ready((*T)(nil)).allocBatch(pointers{unsafe.Pointer(unsafe.SliceData(dst)), len(dst)})
}

func (c *core) allocBatch(dst pointers) error {
	if err := c.acquire(dst.n); err != nil {
		return err
	}
	c.fill(dst.all())
	return nil
}

// fill is AllocBatch that has the capacity for it.
func (c *core) fill(dst []unsafe.Pointer) {
	got, done := 0, false
	defer func() {
		if !done {
			for _, p := range dst[:got] {
				c.giveBack(p)
			}
			clear(dst)
			c.release(len(dst))
		}
	}()
	for got < len(dst) {
		from := got
		got += c.take(dst[got:])
		for _, p := range dst[from:got] {
			track.Out(p, c.size)
		}
		for _, p := range dst[from:got] {
			if c.init != nil && !c.stay() {
				c.init(p)
			}
		}
	}
	done = true
	if check.Enabled || c.hooks.Load()&track.HookOut != 0 {
		for i, p := range dst {
			dst[i] = c.handed(p)
		}
	}
}

// FreeBatch frees the objects of ps and sets its elements to nil, one after the
// other. It panics as Free does; for a nil element before anything is freed.
// What is not nil afterwards was not freed.
func (c *Cache[T]) FreeBatch(ps []*T) {
	c.core.ready((*T)(nil)).freeBatch(pointers{unsafe.Pointer(unsafe.SliceData(ps)), len(ps)})
}

func (c *core) freeBatch(list pointers) {
	ps := list.all()
	for i, p := range ps {
		if p == nil {
			panic(fmt.Sprintf("slab: FreeBatch of %d objects, of which number %d is a nil *%v, in %s", len(ps), i, c.typ, c.title()))
		}
	}
	if c.hooks.Load()&(track.HookOptions|track.HookBack) != 0 || check.Enabled {
		for i, p := range ps {
			ps[i] = nil
			c.free(nil, p)
		}
		return
	}
	for _, p := range ps {
		sanitize.MustHave(p, c.size)
		c.wipe(p)
		track.Back(p, c.size)
	}
	for len(ps) > 0 {
		n, bad := c.give(ps)
		clear(ps[:n])
		ps = ps[n:]
		if bad != "" {
			panic(bad)
		}
	}
}

// pointers is a slice of pointers without their type.
type pointers struct {
	first unsafe.Pointer
	n     int
}

func (s pointers) all() []unsafe.Pointer {
	// SAFETY: pointers of any type have the same representation, and are pointers to
	// the garbage collector.
	return unsafe.Slice((*unsafe.Pointer)(s.first), s.n)
}

// A Reservation holds objects that are allocated but not yet used: the means to
// finish what was begun, whatever others do to the capacity meanwhile. (The idea
// is that of Linux' mempool.) Any number of goroutines may Take from it.
type Reservation[T any] struct {
	_    [0]*T
	core reservation
}

// A reservation is what Reservations of all types have in common.
type reservation struct {
	cache   *core
	objects []unsafe.Pointer
	next    atomic.Int64 // of objects; closed or more: closed
}

const closed = math.MaxInt64 / 2

// Reserve allocates n objects and keeps them for the calls of Take to come. It
// returns an error that wraps [ErrExhausted], and reserves nothing, if n exceed
// the capacity. It panics if n is negative.
func (c *Cache[T]) Reserve(n int) (*Reservation[T], error) {
	r := new(Reservation[T])
	if err := c.core.ready((*T)(nil)).reserve(&r.core, n); err != nil {
		return nil, err
	}
	return r, nil
}

func (c *core) reserve(r *reservation, n int) error {
	if n < 0 {
		panic(fmt.Sprintf("slab: Reserve(%d) of %s: want a number of objects, 0 or more", n, c.title()))
	}
	if uintptr(n) > chunk.MaxBytes/max(c.size, unsafe.Sizeof(uintptr(0))) {
		return fmt.Errorf("%w: Reserve(%d) of %s: no address space has room for that", ErrExhausted, n, c.title())
	}
	if err := c.acquire(n); err != nil { // before there is a list of n
		return err
	}
	r.cache, r.objects = c, make([]unsafe.Pointer, n)
	c.fill(r.objects)
	return nil
}

// Take returns one of the reserved objects. It panics if all have been taken, or
// if the reservation was closed. It costs an atomic instruction.
func (r *Reservation[T]) Take() *T { return (*T)(r.core.take()) }

func (r *reservation) take() unsafe.Pointer {
	i := r.next.Add(1) - 1
	if i >= closed {
		panic(fmt.Sprintf("slab: Take from a closed reservation of %s", r.cache.title()))
	}
	if i >= int64(len(r.objects)) {
		panic(fmt.Sprintf("slab: Take from a reservation of %s whose %d objects are all taken", r.cache.title(), len(r.objects)))
	}
	p := r.objects[i]
	r.objects[i] = nil
	return p
}

// Len returns how many objects can still be taken.
func (r *Reservation[T]) Len() int { return r.core.len() }

func (r *reservation) len() int { return int(max(0, int64(len(r.objects))-r.next.Load())) }

// Close frees the objects that were not taken, all of them even if it panics, as
// Free may. Closing again does nothing.
func (r *Reservation[T]) Close() { r.core.close() }

func (r *reservation) close() {
	if from := r.next.Swap(closed); from < int64(len(r.objects)) {
		r.cache.freeAll(r.objects[from:])
	}
}

// freeAll is freeBatch that goes on where a panic leaves it.
func (c *core) freeAll(ps []unsafe.Pointer) {
	defer func() {
		for len(ps) > 0 && ps[0] == nil {
			ps = ps[1:]
		}
		if len(ps) > 0 {
			c.freeAll(ps)
		}
	}()
	c.freeBatch(pointers{unsafe.Pointer(unsafe.SliceData(ps)), len(ps)})
}
