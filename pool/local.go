package pool

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// A Local keeps objects of type T for a single owner: one goroutine at a time may
// use it, and nothing in it waits. It is for a worker's loop that takes an object,
// or a few, for each piece of work. Where objects move between goroutines, use a
// [Pool].
//
// It keeps at most 64 idle objects, or as many as LocalConfig.Max says, and hands out the one
// that was put last. Nothing trims them: they go with the Local. The zero Local is
// ready and makes objects with new(T). It must not be copied after first use, and
// must not be nil.
//
// An object must not be used after its Put. One that is put twice may be handed
// out twice. Put notices if the object is the one that was put last, and if the
// Local is full.
type Local[T any] struct {
	_ noCopy
	_ [0]*T // a Local of one type is not to be converted to one of another

	top  unsafe.Pointer // idle, and the next to be handed out
	gets uint64         // that returned an object

	hooked bool // Put has more to do than the fast path does
	core   local
}

// A local is what Locals of all types have in common.
type local struct {
	elem  reflect.Type // of an object
	reset func(unsafe.Pointer)
	newFn func() unsafe.Pointer // nil: new(T)
	stack []unsafe.Pointer      // idle but for top, the warmest last
	max   int                   // of idle objects
	name  string

	waits track.Idle // in the check build
	busy  check.Only[check.Busy]

	misses                                  uint64
	droppedFull, droppedPanic, droppedTwice uint64
	high                                    int
}

// localMax is the default of Max for a Local.
const localMax = 64

// noCopy makes go vet report copies of the structs that hold one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewLocal returns an empty Local. Its Get calls newFn where there is no idle
// object; a nil newFn stands for new(T). The settings are those of conf, of which
// there is one or none. NewLocal panics if one is out of its range; see [LocalConfig].
func NewLocal[T any](newFn func() *T, conf ...LocalConfig[T]) *Local[T] {
	l := new(Local[T])
	// SAFETY: GC.md fact 24.
	l.core.configure((*T)(nil), *(*func() unsafe.Pointer)(unsafe.Pointer(&newFn)), commonLocal(conf))
	return l
}

// front returns the Local of which l is the common part.
func (l *local) front() *Local[struct{}] {
	// SAFETY: no field of a Local depends on its type but one without size. (A pointer
	// to it in l would have each Local on the heap.)
	return (*Local[struct{}])(unsafe.Add(unsafe.Pointer(l), -int(unsafe.Offsetof(Local[struct{}]{}.core))))
}

// ready has l know the type of its objects, to which null is a nil pointer.
//
//go:noinline
func (l *local) ready(null any) *local {
	if l.elem == nil {
		l.elem, l.max = reflect.TypeOf(null).Elem(), localMax
	}
	return l
}

// configure makes l ready, with settings.
func (l *local) configure(null any, newFn func() unsafe.Pointer, given []LocalConfig[object]) {
	l.ready(null)
	c := config.Optional("pool", "NewLocal", given)
	config.AtLeast("pool: LocalConfig.Max", c.Max, -1, objectsOrUsual)
	l.newFn, l.name = newFn, c.Name
	if c.Max > 0 {
		l.max = c.Max
	} else if c.Max < 0 {
		l.max = none
	}
	l.reset = untyped(c.Reset)
	l.front().hooked = l.reset != nil
}

// ptr returns the type of a pointer to an object.
func (l *local) ptr() reflect.Type { return reflect.PointerTo(l.elem) }

// title returns what messages call the Local.
func (l *local) title() string { return account.Title("Local", l.name) }

// Get returns an object: a new one, or the one that was put last, as Reset, or its
// user, left it. If the function that makes it does not return, nobody gets an
// object; if it returns nil, Get panics. Get inlines: with one object in use at a
// time it costs about a nanosecond, with more two or three.
func (l *Local[T]) Get() (x *T) {
	if track.Watched {
		return (*T)(l.core.ready((*T)(nil)).getWatched())
	}
	if l.top == nil {
		l.fill()
	}
	x, l.top = (*T)(l.top), nil // in one statement, or it does not inline
	l.gets++
	return
}

// Put gives x to the Local, where it came from Get or not. It must not be used
// afterwards. Put panics if x is nil, or was put already and that is noticed; see
// [Local]. It inlines and costs what Get does, and what Reset does.
func (l *Local[T]) Put(x *T) {
	if check.Enabled {
		l.core.ready((*T)(nil)).putChecked(unsafe.Pointer(x))
		return
	}
	if sanitize.Enabled {
		l.put(x)
		return
	}
	if l.top != nil || x == nil || l.hooked {
		l.put(x)
	} else {
		l.top = unsafe.Pointer(x)
	}
}

// fill is Get's way when there is no top: it makes one. What is on the stack it takes
// itself, as another call would be a fifth of the time.
//
//go:noinline
func (l *Local[T]) fill() {
	if !l.core.pop() {
		l.core.fill((*T)(nil))
	}
}

// put is Put's way where there is a top, or more to do. In the same way, what goes on
// the stack it puts there itself.
//
//go:noinline
func (l *Local[T]) put(x *T) {
	if !l.core.push(unsafe.Pointer(x)) {
		l.core.put((*T)(nil), unsafe.Pointer(x))
	}
}

// fill makes a top, where there is none.
func (l *local) fill(null any) {
	if l.elem == nil {
		l.ready(null)
	}
	if l.pop() {
		return
	}
	var x unsafe.Pointer
	if l.newFn == nil {
		x = reflect.New(l.elem).UnsafePointer()
	} else if x = l.newFn(); x == nil {
		panic(fmt.Sprintf("pool: newFn of %s returned a nil %v", l.title(), l.ptr()))
	}
	l.misses++
	waits, _ := l.waits.Waiting()
	l.high = max(l.high, int(l.misses-l.dropped())-waits)
	if l.front().top != nil { // newFn has put something
		l.stack = append(l.stack, l.front().top)
	}
	l.front().top = x
}

// push is put where there is nothing to do but to put the top on the stack, which has room
// for it, and x in its place. Otherwise it does nothing and reports false.
func (l *local) push(x unsafe.Pointer) bool {
	n, front := len(l.stack), l.front()
	if x == nil || x == front.top || front.top == nil || n >= cap(l.stack) || n+1 >= l.max || front.hooked || sanitize.Enabled {
		return false
	}
	l.stack = l.stack[:n+1]
	l.stack[n] = front.top
	front.top = x
	return true
}

// pop makes the object on the stack that was put last the top. It reports false
// if there is none.
func (l *local) pop() bool {
	n := len(l.stack) - 1
	if n < 0 {
		return false
	}
	l.front().top = l.stack[n]
	l.stack[n] = nil
	l.stack = l.stack[:n]
	return true
}

// put is Put.
func (l *local) put(null any, x unsafe.Pointer) {
	if l.elem == nil {
		l.ready(null)
	}
	if x == nil {
		panic(fmt.Sprintf("pool: Put of a nil %v into %s", l.ptr(), l.title()))
	}
	if sanitize.Poisons {
		sanitize.MustHave(x, l.elem.Size())
	}
	if l.reset != nil {
		l.callReset(x)
	}
	l.keep(x)
}

// keep makes x the top, if there is room.
func (l *local) keep(x unsafe.Pointer) {
	if sanitize.Enabled {
		sanitize.Revoke(x, l.elem.Size())
	}
	if l.front().top == nil {
		l.front().top = x
		return
	}
	full := len(l.stack)+1 >= l.max
	if x == l.front().top || full && slices.Contains(l.stack, x) {
		l.droppedTwice++
		panic(fmt.Sprintf("pool: %s: object %p (%v) was Put twice", l.title(), x, l.ptr()))
	}
	if full {
		l.droppedFull++
		return
	}
	l.stack = append(l.stack, l.front().top)
	l.front().top = x
}

// callReset calls Reset, and counts the object as dropped until that returns, so for good
// if it does not.
func (l *local) callReset(x unsafe.Pointer) {
	l.droppedPanic++
	l.reset(x)
	l.droppedPanic--
}

// dropped returns how many objects were put and not kept.
func (l *local) dropped() uint64 { return l.droppedFull + l.droppedPanic + l.droppedTwice }

// Stats returns the numbers of the Local. There is nothing cached, no depot and
// no magazine: Idle is Depot.
func (l *Local[T]) Stats() Stats { return l.core.ready((*T)(nil)).stats() }

func (l *local) stats() Stats {
	s := Stats{
		Name: l.name, Type: l.ptr().String(), Idle: len(l.stack), HighWater: l.high,
		Max: bound(l.max), Hits: l.front().gets - l.misses, Misses: l.misses,
		DroppedFull: l.droppedFull, DroppedPanic: l.droppedPanic, DroppedTwice: l.droppedTwice,
	}
	if l.front().top != nil {
		s.Idle++
	}
	waits, _ := l.waits.Waiting()
	s.Idle += waits
	s.Depot = s.Idle
	s.Puts = s.Hits + uint64(s.Idle) + s.Dropped()
	s.InUse = int(s.Hits + s.Misses - s.Puts)
	return s
}
