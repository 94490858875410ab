package pool

import (
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/heap"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/stale"
)

// Stale pointers, to objects that were put. Of one object in 1024 that is put,
// none is kept, and the garbage collector finds whether something still points to
// it: see package internal/stale.
//
// What is put may be anything: a global variable, or a part of something larger
// that others hold rightly. So an object is chosen before: one that the pool makes
// for a Get is marked, and watched when it is put. It must be one of Go's heap of
// its own then, which what new and make return is. Of what newFn returns it is asked;
// a pool of other memory, which the collector does not free, is left alone from then
// on: each object more that is made for the choice would stay for good.
//
// Fast paths do not count, and have no part in the choice. After a collection that
// finds enough Puts since the one before, the pool hooks Get: the next one takes the
// slow path and makes the object. Then Put is hooked, until the object is back, or
// a few collections have passed. So there is one mark in a collection at the most,
// however many Puts there are, unless all are watched.

// What hooks says.
const (
	hookCost = 1 << iota // Put has to call Cost
	hookGet              // an object is to be marked
	hookPut              // an object is marked
)

// A watching is what a budget knows of the objects to watch.
type watching struct {
	out   bool             // what newFn makes cannot be watched
	armed bool             // the next Get makes an object that is marked
	marks map[uintptr]mark // by the address of the object
	puts  uint64           // at the last collection
}

// A mark is of an object in use that is watched when it is put.
type mark struct {
	at   weak.Pointer[byte] // the memory that is watched
	left int                // collections until it is given up
}

const (
	patience = 8       // collections that a mark waits
	maxMarks = 1 << 16 // where all are watched
)

// working is the list of pools that are in use.
var working registry.List[self]

func init() {
	stale.OnAll(func() {
		for s := range working.All() {
			s.b.mu.Lock()
			s.b.hook()
			s.b.mu.Unlock()
		}
	})
}

// hook and sample are called with the lock held.

// hook sets whether fast paths are left out.
func (b *budget) hook() {
	if b.hooks == nil {
		return // not ready yet
	}
	n := b.hooks.Load() & hookCost
	if b.watching.armed || stale.Each() && !b.watching.out {
		n |= hookGet
	}
	if len(b.watching.marks) > 0 {
		n |= hookPut
	}
	b.hooks.Store(n)
}

// sample is called after each collection. It arms the pool if it is time to.
func (b *budget) sample() {
	w := &b.watching
	if !stale.Each() {
		for p, m := range w.marks {
			if m.left--; m.left == 0 {
				delete(w.marks, p)
			} else {
				w.marks[p] = m
			}
		}
	}
	puts := uint64(0)
	for _, d := range b.depots {
		puts += d.putsNow()
	}
	if len(w.marks) == 0 && !w.out && stale.Draw(puts-w.puts) {
		w.armed = true
	}
	w.puts = puts
	b.hook()
}

// claim makes the caller the one who marks an object, if one is to be marked. The
// object counts as a miss of the depot.
func (b *budget) claim(d *depot) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
	ok := b.watching.armed || stale.Each() && !b.watching.out && len(b.watching.marks) < maxMarks
	b.watching.armed = false
	if ok {
		d.misses++
		b.left(1)
	}
	b.hook()
	return ok
}

// leaveOut has no object of the pool watched any more.
func (b *budget) leaveOut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching.out = true
	b.hook()
}

// mark has the object at p watched when it is put. at is the memory to watch.
func (b *budget) mark(p unsafe.Pointer, at *byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watching.marks == nil {
		b.watching.marks = make(map[uintptr]mark)
	}
	b.watching.marks[address(p)] = mark{weak.Make(at), patience}
	b.hook()
}

// unmark reports whether the object at p is marked and its memory is that at at.
// Then it is the caller's to watch, and to count as dropped.
func (b *budget) unmark(p unsafe.Pointer, at *byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.watching.marks[address(p)]
	delete(b.watching.marks, address(p))
	b.hook()
	return ok && m.at.Value() == at // or the address is that of another object by now
}

// dropWatched counts an object as dropped.
func (d *depot) dropWatched() {
	d.budget.mu.Lock()
	defer d.budget.mu.Unlock()
	d.puts++
	d.droppedWatched++
	d.budget.away--
}

// watch watches memory that was just released.
func (b *budget) watch(typ string, at *byte, bytes int) {
	r := stale.Begin("pool", b.name, nil)
	r.Add(typ, at, bytes)
	r.Watch()
}

// putsNow returns the number of Puts up to now.
func (d *depot) putsNow() uint64 {
	n := d.puts
	d.cells.Walk(func(m *magazine.Magazine) {
		_, _, pushes := m.Peek()
		n += uint64(pushes)
	})
	return n
}

// getMarked makes an object that is marked, or returns nil if none is to be.
func (o *objects) getMarked() unsafe.Pointer {
	if o.depot.size < stale.Least || !o.claim(&o.depot) {
		return nil
	}
	x := o.make()
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	if o.newFn == nil || heap.Has(at) {
		o.mark(x, at)
	} else {
		o.leaveOut()
	}
	return x
}

// watchPut reports whether x was marked and is now dropped and watched.
func (o *objects) watchPut(x unsafe.Pointer) bool {
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	if !o.unmark(x, at) {
		return false
	}
	o.depot.dropWatched()
	o.watch(o.elem.String(), at, o.depot.size)
	return true
}

// getMarked makes a buffer of class i that is marked, or returns nil if none is to
// be.
func (b *Bytes) getMarked(d *depot, i, n int) *[]byte {
	if !b.claim(d) {
		return nil
	}
	s := make([]byte, n, classSize(i))
	b.mark(unsafe.Pointer(&s), unsafe.SliceData(s))
	return &s
}

// watchPut reports whether the buffer was marked and is now dropped and watched.
func (b *Bytes) watchPut(p *[]byte) bool {
	at := unsafe.SliceData(*p)
	if !b.unmark(unsafe.Pointer(p), at) {
		return false
	}
	b.class(classOf(cap(*p))).dropWatched()
	b.watch("[]uint8", at, cap(*p))
	return true
}
