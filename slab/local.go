package slab

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// A Local hands out objects of type T one by one and takes them back one by one,
// for a single owner: one goroutine at a time may use it, and nothing in it
// waits. It is the fastest allocator of this package, for a worker's loop, a
// simulation, or a data structure that has its own lock. Where several
// goroutines allocate at a time, use a [Cache].
//
// The zero Local is ready. It must not be copied after first use; a copy panics when its
// magazine is empty.
//
// A pointer that is used after its Free reads and writes an object that may
// belong to somebody else: wrong data, but always a T, so the heap stays whole.
// An object that is never freed stays with the Local, and goes with it when
// nothing refers to either any more.
//
// Freeing an object twice, and freeing a pointer that did not come from this
// Local, is found with a delay: when more objects come back than are in use, when
// the magazine, with 1024 free objects, is full, and by [Local.Trim]. Until then
// two users may share one object. The panic names the pointer, and the Local goes
// on as if the mistaken Free had not been.
type Local[T any] struct {
	spill spill // first: elsewhere its call costs two more of the inliner's budget
	_     noCopy
	_     [0]*T // a Local of one type is not to be converted to one of another

	mag  []unsafe.Pointer // of which mag[:i] are free
	i    int
	full int // when i is this, settle: see local.fit
	core local
}

// A spill is Free's way to settle. It has no type parameter because a call of a method
// with one costs four more of the inliner's budget.
type spill struct{ of *local }

//go:noinline
func (s *spill) spillOver() { s.of.mustSettle() }

// A local is what Locals of all types have in common. Objects lie in slabs, []T. Those
// that are handed out next are in the magazine. In objects,
//
//	objects = out + resting
//	out     = in use + i
//
// where resting counts those that are free in their slabs, and out those
// that left them for the magazine or for the user. In the check build those
// that wait in checked are out as well.
type local struct {
	front   *Local[struct{}] // the Local itself
	out     int
	resting int

	elem
	recip uint64      // ⌈2⁶⁴/size⌉, or 0 if size is 1
	slabs []localSlab // by address
	bases []uintptr   // where they begin
	low   int         // no slab before slabs[low] has a free object
	last  int         // the slab where find found its last object

	busy  check.Only[check.Busy]
	watch track.Objects
}

// noCopy makes go vet report copies of the structs that hold one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// bind makes l the common part of a Local, once. null is a nil pointer to an object, for
// its type. A copy of a Local has a type already, and refers to the other.
//
//go:noinline
func (l *local) bind(null any, front unsafe.Pointer) *local {
	// SAFETY: no field of a Local depends on its type but one without size.
	f := (*Local[struct{}])(front)
	if l.front == f {
		return l
	}
	if l.typ != nil && !check.Enabled { // which reports it, with stacks, and goes on
		panic(fmt.Sprintf("slab: use of a copy of a Local[%v]: pass a *Local", l.typ))
	}
	l.elem, l.front, f.spill.of = elemOf(reflect.TypeOf(null).Elem(), check.Enabled), f, l
	if l.size > 1 {
		l.recip = math.MaxUint64/uint64(l.size) + 1
	}
	return l
}

// maxMagazine is the most objects in a Local's magazine. A magazine for all
// objects, which would never be full, is faster for bursts of more than this; but
// it takes 8 bytes for each object, in place of one bit, and the collector goes
// through it, whatever T is: 16 ms for 4 million objects.
const maxMagazine = 1024

// Alloc returns a zero object. It inlines: a compare, a decrement and a bounds
// check. With more than a thousand objects in use, it takes them from their slabs
// about 500 at a time, which costs some nanoseconds for each.
func (l *Local[T]) Alloc() *T {
	if track.Watched {
		return (*T)(l.core.bind((*T)(nil), unsafe.Pointer(l)).allocWatched())
	}
	if l.i == 0 {
		l.refill()
	}
	l.i--
	return (*T)(l.mag[l.i])
}

// Free takes p back and sets the object to zero. It must have come from this
// Local, and must not be used afterwards. It panics for mistakes that this or
// another call made; see [Local]. If p is nil, or nothing was ever allocated from
// this Local, that is a panic of Go's runtime. It inlines and costs what Alloc
// does, and the time to clear the object. With more than a thousand objects in
// use, it takes free objects to their slabs from time to time, which costs some
// nanoseconds for each.
func (l *Local[T]) Free(p *T) {
	if check.Enabled {
		_ = *p // as below, nil is an error of the runtime
		l.core.bind((*T)(nil), unsafe.Pointer(l)).freeChecked(unsafe.Pointer(p))
		return
	}
	if sanitize.Poisons {
		sanitize.MustHave(unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	// SAFETY: an array of one T has the layout of a T. To write *p = *new(T)
	// would cost six of the inliner's budget more (GC.md fact 11); as it is, Free
	// costs all of the 80.
	*(*[1]T)(unsafe.Pointer(p)) = [1]T{}
	if sanitize.Poisons {
		sanitize.Withhold(unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	l.mag[l.i] = unsafe.Pointer(p)
	l.i++
	if l.i == l.full {
		l.spill.spillOver()
	}
}

// refill is Alloc's way when the magazine is empty.
//
//go:noinline
func (l *Local[T]) refill() { l.core.bind((*T)(nil), unsafe.Pointer(l)).refill() }

// refill takes as many objects as leave room for those that can come back, but at least
// half a magazine.
func (l *local) refill() {
	if l.resting == 0 {
		l.grow()
	}
	room := len(l.front.mag) - 1
	n := min(l.resting, max(room/2, room-l.out))
	l.take(l.front.mag[:n])
	l.front.i = n
	l.fit()
	l.checkInvariants()
}

// grow adds a slab, and makes the magazine large enough for a small Local to
// have all of its free objects there. The magazine is empty.
func (l *local) grow() {
	if l.size == 0 {
		l.resting = maxMagazine
	} else {
		l.addSlab()
	}
	if want := min(l.out+l.resting+1, maxMagazine); len(l.front.mag) < want {
		l.front.mag = make([]unsafe.Pointer, want)
	}
}

// fit sets when Free settles: when the magazine is full, or has one object more than can
// come back.
func (l *local) fit() { l.front.full = min(len(l.front.mag), l.out+1) }

// mustSettle is Free's way when the magazine is full, or has more objects than there can
// be.
func (l *local) mustSettle() {
	if bad := l.settle(); bad != "" {
		panic(bad)
	}
}

// settle moves the objects in the magazine to their slabs. Here is where
// mistakes are found: each must be one of this Local's and be out. Those that
// are not are left out, and the result says what the first one is.
func (l *local) settle() (bad string) {
	for _, p := range l.front.mag[:l.front.i] {
		k, i := l.find(p)
		if l.isOut(k, i) {
			l.rest(k, i)
		} else if bad == "" {
			bad = l.complaint(p, k)
		}
	}
	l.front.i = 0
	l.fit()
	l.checkInvariants()
	return bad
}

// complaint says what is wrong with p, which find finds in slab k.
func (l *local) complaint(p unsafe.Pointer, k int) string {
	if k < 0 {
		return fmt.Sprintf("slab: Free of *%v %p, which is no object of this Local", l.typ, p)
	}
	return fmt.Sprintf("slab: second Free of *%v %p in a Local", l.typ, p)
}

// Trim gives memory to the garbage collector: all slabs without an object in
// use. It returns their bytes. It takes some nanoseconds for each free object in
// the magazine and for each slab, and panics for mistakes made before; see
// [Local].
func (l *Local[T]) Trim() int { return l.core.bind((*T)(nil), unsafe.Pointer(l)).trim() }

func (l *local) trim() int {
	if check.Enabled {
		l.watch.Leave(true, l.owner())
	}
	l.mustSettle()
	clear(l.front.mag) // what was handed out left its pointers there
	before := l.stats().Bytes
	l.drop()
	l.checkInvariants()
	return before - l.stats().Bytes
}
