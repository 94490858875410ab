package slab

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A Local hands out objects of type T one by one and takes them back one by one,
// for a single owner: one goroutine at a time may use it, and nothing in it
// waits. It is the fastest allocator of this package, for a worker's loop, a
// simulation, or a data structure that has its own lock. Where several
// goroutines allocate at a time, use a [Cache].
//
// The zero Local is ready. It must not be copied after first use.
//
// A pointer that is used after its Free reads and writes an object that may
// belong to somebody else: wrong data, but always a T, so the heap stays whole.
// An object that is never freed stays with the Local, and goes with it when
// nothing refers to either any more.
//
// Freeing an object twice, and freeing a pointer that did not come from this
// Local, is found with a delay: when more objects come back than are in use, when
// the magazine, with 1024 free objects, is full, and by [Local.Shrink]. Until then
// two users may share one object. The panic names the pointer, and the Local goes
// on as if the mistaken Free had not been.
type Local[T any] struct {
	spill // first: elsewhere its call costs two more of the inliner's budget
	_     noCopy

	// Objects lie in slabs, []T. Those that are handed out next are in the
	// magazine. In objects,
	//
	//	objects = out + resting
	//	out     = in use + i
	//
	// where resting counts those that are free in their slabs, and out those
	// that left them for the magazine or for the user. In the check build those
	// that wait in checked are out as well.
	mag     []*T // mag[:i] are free
	i       int
	full    int // when i is this, settle: min(len(mag), out+1), so one more than can come back
	out     int
	resting int

	slabs []localSlab[T] // by address
	bases []uintptr      // where they begin
	low   int            // no slab before slabs[low] has a free object
	last  int            // the slab where find found its last object

	checked check.Objects
	busy    check.Busy
	watched escape.Countdown // slabs given back to the next one that is watched
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
	if check.Enabled {
		return l.allocChecked()
	}
	if sanitize.Poisons {
		return l.allocGranted()
	}
	if l.i == 0 {
		l.refill()
	}
	l.i--
	return l.mag[l.i]
}

// Free takes p back, which must have come from this Local and must not be used
// afterwards, and sets the object to zero. It panics for mistakes that this or
// another call made; see [Local]. If p is nil, or nothing was ever allocated from
// this Local, that is a panic of Go's runtime. It inlines and costs what Alloc
// does, and the time to clear the object. With more than a thousand objects in
// use, it takes those that are free to their slabs from time to time, which costs
// some nanoseconds for each.
func (l *Local[T]) Free(p *T) {
	if check.Enabled {
		l.freeChecked(p)
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
	l.mag[l.i] = p
	l.i++
	if l.i == l.full {
		l.spillOver()
	}
}

// pop is Alloc where there is more to do, but for that.
func (l *Local[T]) pop() *T {
	if l.i == 0 {
		l.refill()
	}
	l.i--
	return l.mag[l.i]
}

// A spill is Free's way to settle. It has no type parameter because a call of a
// method with one costs four more of the inliner's budget.
type spill struct{ settle func() }

//go:noinline
func (s *spill) spillOver() { s.settle() }

// noCopy makes go vet report copies of the structs that hold one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// size returns the bytes of one T.
func (l *Local[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

// refill is Alloc's way when the magazine is empty. It takes as many objects as
// leave room for those that can come back, but at least half a magazine.
//
//go:noinline
func (l *Local[T]) refill() {
	if l.resting == 0 {
		l.grow()
	}
	room := len(l.mag) - 1
	n := min(l.resting, max(room/2, room-l.out))
	l.take(l.mag[:n])
	l.i = n
	l.fit()
	l.checkInvariants()
}

// grow adds a slab, and makes the magazine large enough for a small Local to
// have all of its free objects there. The magazine is empty.
func (l *Local[T]) grow() {
	if l.settle == nil {
		l.settle = l.mustSettle
	}
	if l.size() == 0 {
		l.resting = maxMagazine
	} else {
		l.addSlab()
	}
	if want := min(l.out+l.resting+1, maxMagazine); len(l.mag) < want {
		l.mag = make([]*T, want)
	}
}

// fit sets when Free settles.
func (l *Local[T]) fit() { l.full = min(len(l.mag), l.out+1) }

// mustSettle is Free's way when the magazine is full, or has more objects than
// there can be.
func (l *Local[T]) mustSettle() {
	if bad := l.settleAll(); bad != "" {
		panic(bad)
	}
}

// settleAll moves the objects in the magazine to their slabs. Here is where
// mistakes are found: each must be one of this Local's and be out. Those that
// are not are left out, and the result says what the first one is.
func (l *Local[T]) settleAll() (bad string) {
	for _, p := range l.mag[:l.i] {
		k, i := l.find(p)
		if l.isOut(k, i) {
			l.rest(k, i)
		} else if bad == "" {
			bad = l.complaint(p, k)
		}
	}
	l.i = 0
	l.fit()
	l.checkInvariants()
	return bad
}

// complaint says what is wrong with p, which find finds in slab k.
func (l *Local[T]) complaint(p *T, k int) string {
	t := reflect.TypeFor[T]()
	if k < 0 {
		return fmt.Sprintf("slab: Free of *%v %p, which is no object of this Local", t, p)
	}
	return fmt.Sprintf("slab: second Free of *%v %p in a Local", t, p)
}

// Shrink gives memory to the garbage collector: all slabs without an object in
// use. It returns their bytes. It takes some nanoseconds for each free object in
// the magazine and for each slab, and panics for mistakes made before; see
// [Local].
func (l *Local[T]) Shrink() int {
	if check.Enabled {
		l.leaveAll()
	}
	l.mustSettle()
	clear(l.mag) // what was handed out left its pointers there
	before := l.Stats().Bytes
	l.drop()
	l.checkInvariants()
	return before - l.Stats().Bytes
}
