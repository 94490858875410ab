package pool

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/track"
)

// A Pool keeps objects of type T that are costly to make, for whoever needs one
// next. The zero Pool is ready and makes objects with new(T); make one with [New]
// for another function and for settings. Any number of goroutines may use a Pool;
// an object may be put by another goroutine than the one that got it. A Pool must
// not be copied after first use.
//
// A nil *Pool stands for Go's heap: Get returns new(T), and Put leaves the object
// to the garbage collector.
//
// Each P (a processor of Go's scheduler) keeps up to 114 idle objects, which it
// takes and adds without a lock; what comes on top lies in a depot, for all. A Get
// that finds none on its P and none in the depot makes one, although other Ps may
// have some. Idle objects stay over garbage collections as long as they are used:
// half of those that nobody would have missed since the last collection go after
// each, or after each half of Config.Idle, down to its Floor. What the Ps have goes with
// them when the whole pool was unused from one such step to the next. Near the
// memory limit (debug.SetMemoryLimit) all above the floor goes, in a few steps.
//
// An object must not be used after its Put: somebody else has it. One that is put
// twice may be handed out twice. That is noticed when both copies meet in the
// depot, where a magazine of the Ps comes when it is full: so late, if at all. A
// Put then panics, maybe in another goroutine than the one that made the mistake;
// the object is kept once.
type Pool[T any] struct {
	_    [0]*T   // a Pool of one type is not to be converted to one of another
	core objects // begins with what the fast paths read
}

// New returns an empty pool. Its Get calls newFn where there is no idle object; a nil
// newFn stands for new(T). What newFn returns should be an object by itself: if it is
// part of something larger that others refer to, StalePointers of package check takes
// that for a reference after Put. An object outside of Go's heap is not watched, and is
// lost when the pool drops it, since nobody frees it. The settings are those of conf, of
// which there is one or none. New panics if one is out of its range; see [Config].
func New[T any](newFn func() *T, conf ...Config[T]) *Pool[T] {
	p := new(Pool[T])
	// SAFETY: GC.md fact 24.
	p.core.configure((*T)(nil), *(*func() unsafe.Pointer)(unsafe.Pointer(&newFn)), common(conf))
	return p
}

// Get returns an object: a new one, or an idle one as Reset, or its last user, left
// it. If the function that makes it does not return, nobody gets an object; if it
// returns nil, Get panics. It costs a few nanoseconds, and once for each magazine of
// up to 57 objects a lock.
func (p *Pool[T]) Get() *T {
	if p == nil {
		return new(T)
	}
	if track.Watched {
		return (*T)(p.core.getWatched((*T)(nil)))
	}
	if p.core.hooks.Load()&track.HookOut != 0 { // in one condition it would take three jumps
		return (*T)(p.core.get((*T)(nil)))
	}
	pid := magazine.Enter()
	if t := p.core.depot.set.Table(); t != nil && t.Has(pid) {
		if c := t.Cell(pid); c.CanPop() {
			x := c.Pop()
			c.Leave()
			if magazine.Race {
				magazine.Acquire(x)
			}
			return (*T)(x) // SAFETY: see depot
		} else {
			c.Leave()
		}
	} else {
		magazine.Exit()
	}
	return (*T)(p.core.get((*T)(nil)))
}

// Put gives x to the pool, where it came from Get or not. It must not be used
// afterwards. Put panics if x is nil, if an object was found to be put twice (see
// [Pool]) and if Cost returns a negative number. It costs what Get does, and
// what Reset and Cost do; with Cost, some nanoseconds more.
func (p *Pool[T]) Put(x *T) {
	if x == nil || p == nil || track.Watched {
		var o *objects
		if p != nil {
			o = &p.core
		}
		o.putSlow((*T)(nil), unsafe.Pointer(x))
		return
	}
	if p.core.hooks.Load()&(track.HookOptions|track.HookBack) != 0 {
		p.core.putSlow((*T)(nil), unsafe.Pointer(x))
		return
	}
	if p.core.reset != nil {
		p.core.reset(unsafe.Pointer(x))
	}
	if magazine.Race {
		track.Back(unsafe.Pointer(x), unsafe.Sizeof(*x))
	}
	pid := magazine.Enter()
	if t := p.core.depot.set.Table(); t != nil && t.Has(pid) {
		if c := t.Cell(pid); c.CanPush() {
			c.Push(unsafe.Pointer(x))
			c.Leave()
			return
		} else {
			c.Leave()
		}
	} else {
		magazine.Exit()
	}
	p.core.put((*T)(nil), unsafe.Pointer(x))
}

// Trim drops all idle objects but Config.Floor, those of the Ps included, and returns
// how many. It stops the world for some tens of microseconds, and waits for a
// garbage collection that is under way. Without it a pool gives back what it does
// not need step by step. It panics if an object was found to be put twice. On a nil
// Pool it does nothing.
func (p *Pool[T]) Trim() int {
	if p == nil {
		return 0
	}
	n, _ := p.core.shrink()
	return n
}

// Stats returns the pool's numbers. It takes the lock for some nanoseconds for
// each P. For a nil Pool they are zero.
func (p *Pool[T]) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	return p.core.statsOf((*T)(nil))
}
