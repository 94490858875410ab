package pool

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A Pool keeps objects of type T that are costly to make, for whoever needs one
// next. The zero Pool is ready and makes objects with new(T); make one with [New]
// for another function and for options. Any number of goroutines may use a Pool;
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
// each, or after each half of [Idle], down to [Floor]. What the Ps have goes with
// them when the whole pool was unused from one such step to the next. Near the
// memory limit (debug.SetMemoryLimit) all above the floor goes, in a few steps.
//
// An object must not be used after its Put: somebody else has it. One that is put
// twice may be handed out twice. That is noticed when both copies meet in the
// depot, where a magazine of the Ps comes when it is full: so late, if at all. A
// Put then panics, not necessarily that of the goroutine that made the mistake; the
// object is kept once.
type Pool[T any] struct {
	hooks atomic.Uint32 // Get or Put has more to do than the fast path does; with depot,
	depot depot         // which is next, on the cache line that fast paths read

	newFn func() *T
	reset func(*T)
	cost  func(*T) int
	once  sync.Once // start
	keeper
}

// New returns an empty pool. Its Get calls newFn where there is no idle object; a
// nil newFn stands for new(T). What newFn returns should be an object by itself: of
// one that is part of something larger, which others refer to, Escapes of package
// arena would say that somebody refers to it after Put. It may be outside of Go's heap,
// and then it is not watched; what the pool drops is lost, since nobody frees it. The
// options are [Name], [Max], [MaxBytes], [Cost], [Floor], [Idle] and [Reset]. New panics if it is given another one, if Cost or
// Reset is for another type than T, and if Floor is above Max.
func New[T any](newFn func() *T, opts ...Option) *Pool[T] {
	c := configOf("New", "Name Max MaxBytes Cost Floor Idle Reset", opts)
	p := &Pool[T]{newFn: newFn}
	p.reset = callback[func(*T)]("Reset", titleOf("Pool", c.name), c.reset)
	p.cost = callback[func(*T) int]("Cost", titleOf("Pool", c.name), c.cost)
	p.once.Do(func() { p.start(c) })
	return p
}

// start makes the pool ready, once.
func (p *Pool[T]) start(c config) {
	size := int(unsafe.Sizeof(*new(T)))
	p.typ = reflect.TypeFor[*T]().String()
	p.share = 4
	p.configure("Pool", c)
	p.depot.open(&p.keeper, size, magazine.Rounds, p.cost != nil, size > 0)
	p.depots = []*depot{&p.depot}
	if p.cost != nil {
		p.hooks.Store(hookCost)
	}
	p.keeper.hooks = &p.hooks
	p.hook()
	p.publish()
}

// startZero is start for a pool that New did not make.
func (p *Pool[T]) startZero() { p.start(configOf("Pool", "", nil)) }

// Get returns an object: an idle one as Reset, or its last user, left it, or a new
// one. If the function that makes it does not return, nobody gets an object; if it
// returns nil, Get panics. It costs a few nanoseconds, and once for each magazine of
// up to 57 objects a lock.
func (p *Pool[T]) Get() *T {
	if p == nil {
		return new(T)
	}
	if check.Enabled {
		return p.getChecked()
	}
	if p.hooks.Load()&hookGet != 0 { // in one condition it would take three jumps
		return p.get()
	}
	pid := magazine.Enter()
	if t := p.depot.set.Table(); t != nil && t.Has(pid) {
		if c := t.Cell(pid); c.CanPop() {
			x := c.Pop()
			c.Leave()
			if magazine.Race {
				magazine.Acquire(x)
			}
			if sanitize.Poisons {
				sanitize.Grant(x, unsafe.Sizeof(*new(T)))
			}
			return (*T)(x) // SAFETY: see depot
		} else {
			c.Leave()
		}
	} else {
		magazine.Exit()
	}
	return p.get()
}

// Put gives x to the pool, where it came from Get or not. It must not be used
// afterwards. Put panics if x is nil, if an object was found to be put twice (see
// [Pool]) and if [Cost] returns a negative number. It costs what Get does, and
// what Reset and Cost do; with Cost, some nanoseconds more.
func (p *Pool[T]) Put(x *T) {
	if x == nil || p == nil || check.Enabled {
		p.putSlow(x)
		return
	}
	if sanitize.Poisons || p.hooks.Load()&(hookCost|hookPut) != 0 {
		p.putSlow(x)
		return
	}
	if p.reset != nil {
		p.reset(x)
	}
	if sanitize.Enabled {
		sanitize.Revoke(unsafe.Pointer(x), unsafe.Sizeof(*x))
	}
	if magazine.Race {
		magazine.Release(unsafe.Pointer(x))
	}
	pid := magazine.Enter()
	if t := p.depot.set.Table(); t != nil && t.Has(pid) {
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
	p.put(x)
}

// get is Get's way when the P's magazine is empty, or the pool hooked.
//
//go:noinline
func (p *Pool[T]) get() *T {
	p.once.Do(p.startZero)
	if p.hooks.Load()&hookGet != 0 {
		if x := p.getMarked(); x != nil {
			return x
		}
	}
	x := p.depot.get()
	if x == nil {
		return p.make()
	}
	if magazine.Race {
		magazine.Acquire(x)
	}
	if sanitize.Poisons {
		sanitize.Grant(x, unsafe.Sizeof(*new(T)))
	}
	return (*T)(x) // SAFETY: see depot
}

// make returns a new object.
func (p *Pool[T]) make() *T {
	if p.newFn == nil {
		return new(T)
	}
	made := false
	defer func() {
		if !made { // it panicked, or ended the goroutine
			p.depot.unmiss()
		}
	}()
	x := p.newFn()
	if x == nil {
		panic(fmt.Sprintf("pool: newFn of %s returned a nil %s", p.title(), p.typ))
	}
	made = true
	if sanitize.Poisons { // where it returns what was put
		sanitize.Grant(unsafe.Pointer(x), unsafe.Sizeof(*x))
	}
	return x
}

// put is Put's way when the P's magazine is full.
//
//go:noinline
func (p *Pool[T]) put(x *T) {
	p.once.Do(p.startZero)
	p.depot.put(unsafe.Pointer(x), uint(p.depot.size))
}

// putSlow is Put where it has more to do than the fast path does.
func (p *Pool[T]) putSlow(x *T) {
	if p == nil {
		if x == nil {
			panic(fmt.Sprintf("pool: Put of a nil %v into a nil Pool", reflect.TypeFor[*T]()))
		}
		return
	}
	if x == nil {
		p.once.Do(p.startZero)
		panic(fmt.Sprintf("pool: Put of a nil %s into %s", p.typ, p.title()))
	}
	p.once.Do(p.startZero)
	if check.Enabled && p.checks() {
		p.putChecked(x)
		return
	}
	if sanitize.Poisons {
		sanitize.MustHave(unsafe.Pointer(x), unsafe.Sizeof(*x))
	}
	if p.reset != nil {
		p.reset(x)
	}
	if p.hooks.Load()&hookPut != 0 && p.watchPut(x) {
		if sanitize.Enabled {
			sanitize.Revoke(unsafe.Pointer(x), unsafe.Sizeof(*x))
		}
		return
	}
	cost := p.depot.size
	if p.cost != nil {
		cost = p.costOf(x)
	}
	if sanitize.Enabled {
		sanitize.Revoke(unsafe.Pointer(x), unsafe.Sizeof(*x))
	}
	if magazine.Race {
		magazine.Release(unsafe.Pointer(x))
	}
	p.depot.put(unsafe.Pointer(x), uint(cost))
}

// costOf returns what Cost says of x.
func (p *Pool[T]) costOf(x *T) int {
	done := false
	defer p.depot.dropUnless(&done)
	cost := p.cost(x)
	if cost < 0 {
		panic(fmt.Sprintf("pool: Cost of %s is %d bytes for a %s: want 0 or more", p.title(), cost, p.typ))
	}
	done = true
	return cost
}

// Shrink drops all idle objects but [Floor], those of the Ps included, and returns
// how many. It stops the world for some tens of microseconds, and waits for a
// garbage collection that is under way. Without it a pool gives back what it does
// not need step by step. It panics if an object was found to be put twice. On a nil
// Pool it does nothing.
func (p *Pool[T]) Shrink() int {
	if p == nil {
		return 0
	}
	n, _ := p.shrink()
	return n
}

// Stats returns the pool's numbers. It takes the lock for some nanoseconds for
// each P. Those of a nil Pool are zero.
func (p *Pool[T]) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	p.once.Do(p.startZero)
	return p.stats()
}
