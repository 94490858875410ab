package pool

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// An objects is what Pools of all types have in common. Each function with a type
// parameter is compiled for each type of a program, and each method of a type that such
// a function has as a receiver twice. So a Pool has its exported methods and the fast
// paths in them; the rest is here, the same code for all types, and does not inline into
// them.
type objects struct {
	reset func(unsafe.Pointer)
	hooks atomic.Uint32 // Get or Put has more to do than the fast path does; with depot,
	depot depot         // which is next, on the cache line that fast paths read

	elem  reflect.Type          // of an object
	newFn func() unsafe.Pointer // nil: new(T)
	cost  func(unsafe.Pointer) int
	once  sync.Once // start
	budget
}

// configure makes the pool ready, with settings. null is a nil pointer to an object, for
// its type.
func (o *objects) configure(null any, newFn func() unsafe.Pointer, given []Config[object]) {
	c := config.Optional("pool", "New", given)
	config.AtLeast("pool: Config.MaxBytes", c.MaxBytes, 0, bytesOrNone)
	o.newFn, o.reset, o.cost = newFn, untyped(c.Reset), untypedCost(c.Cost)
	o.once.Do(func() {
		o.start(null, BytesConfig{Name: c.Name, Max: c.Max, MaxBytes: c.MaxBytes, Floor: c.Floor, Idle: c.Idle})
	})
}

// startZero is start for a pool that New did not make.
func (o *objects) startZero(null any) { o.start(null, BytesConfig{}) }

// start makes the pool ready, once.
func (o *objects) start(null any, c BytesConfig) {
	c.check("Config")
	ptr := reflect.TypeOf(null)
	o.elem, o.typ = ptr.Elem(), ptr.String()
	size := int(o.elem.Size())
	o.share = 4
	o.budget.configure("Pool", c)
	o.depot.open(&o.budget, size, magazine.Rounds, o.cost != nil, size > 0)
	o.depots = []*depot{&o.depot}
	if o.cost != nil {
		o.hooks.Store(track.HookOptions)
	}
	o.marks.Open(&o.hooks)
	o.publish()
}

// get is Get's way when the P's magazine is empty, or the pool hooked.
//
//go:noinline
func (o *objects) get(null any) unsafe.Pointer {
	o.once.Do(func() { o.startZero(null) })
	if o.hooks.Load()&track.HookOut != 0 {
		if x := o.getMarked(); x != nil {
			return x
		}
	}
	x := o.depot.get()
	if x == nil {
		return o.make()
	}
	track.Out(x, uintptr(o.depot.size))
	return x
}

// make returns a new object.
func (o *objects) make() unsafe.Pointer {
	if o.newFn == nil {
		return reflect.New(o.elem).UnsafePointer()
	}
	made := false
	defer func() {
		if !made { // it panicked, or ended the goroutine
			o.depot.unmiss()
		}
	}()
	x := o.newFn()
	if x == nil {
		panic(fmt.Sprintf("pool: newFn of %s returned a nil %s", o.title(), o.typ))
	}
	made = true
	sanitize.Grant(x, o.elem.Size()) // where it returns what was put
	return x
}

// put is Put's way when the P's magazine is full.
//
//go:noinline
func (o *objects) put(null any, x unsafe.Pointer) {
	o.once.Do(func() { o.startZero(null) })
	o.depot.put(x, uint(o.depot.size))
}

// putSlow is Put where it has more to do than the fast path does. A nil o is that of a
// nil Pool.
//
//go:noinline
func (o *objects) putSlow(null any, x unsafe.Pointer) {
	if o == nil {
		if x == nil {
			panic(fmt.Sprintf("pool: Put of a nil %T into a nil Pool", null))
		}
		return
	}
	o.once.Do(func() { o.startZero(null) })
	if x == nil {
		panic(fmt.Sprintf("pool: Put of a nil %s into %s", o.typ, o.title()))
	}
	if check.Enabled && o.checks() {
		o.putChecked(x)
		return
	}
	sanitize.MustHave(x, o.elem.Size())
	if o.reset != nil {
		o.reset(x)
	}
	if o.hooks.Load()&track.HookBack != 0 && o.watchPut(x) {
		track.Back(x, uintptr(o.depot.size))
		return
	}
	cost := o.costOf(x)
	track.Back(x, uintptr(o.depot.size))
	o.depot.put(x, uint(cost))
}

// costOf returns what x counts as.
func (o *objects) costOf(x unsafe.Pointer) int {
	if o.cost == nil {
		return o.depot.size
	}
	done := false
	defer o.depot.dropUnless(&done)
	cost := o.cost(x)
	if cost < 0 {
		panic(fmt.Sprintf("pool: Cost of %s is %d bytes for a %s: want 0 or more", o.title(), cost, o.typ))
	}
	done = true
	return cost
}

// statsOf is Stats.
//
//go:noinline
func (o *objects) statsOf(null any) Stats {
	o.once.Do(func() { o.startZero(null) })
	return o.stats()
}
