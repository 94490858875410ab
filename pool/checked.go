package pool

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/track"
)

// In the check build what is put is poisoned, and waits in a queue before it goes to
// the magazines as it was. A second Put, one of a part of an object, and a write to
// what waits are reported, at once or when it leaves the queue. What is in the
// magazines and in the depot is known to be idle, but not poisoned.
//
// What an object held is copied for that time, unless it was marked to be watched
// (see stale.go): then nobody gets it again.

// init has what waits leave when somebody asks for all stale pointers.
func init() {
	check.OnFlush(func() {
		for s := range working.All() {
			s.b.leave()
		}
	})
}

// leave has all objects that wait leave their queues.
func (b *budget) leave() {
	b.mu.Lock()
	depots := append([]*depot(nil), b.depots...)
	b.mu.Unlock()
	for _, d := range depots {
		d.leave(true)
	}
}

// leave has objects leave that have waited long enough, or all.
func (d *depot) leave(all bool) {
	b := d.budget
	leave(d.checked.Get(), all, b.max, b.maxBytes)
}

func leave(q *check.Idle, all bool, objects, bytes int) {
	for bad := q.Leave(all, objects, bytes); bad != nil; bad = q.Leave(all, objects, bytes) {
		check.Raise(bad)
	}
}

// wait has an object that Put has taken down wait. Its Back gives it to the depot;
// or r, if that is not nil, is to watch it, which has so many bytes at at.
func (d *depot) wait(x check.Waiter, r *stale.Release, typ string, at *byte, bytes int) {
	d.budget.moved(-1)
	back := x.Back
	x.Back = func() {
		d.budget.moved(1)
		if back != nil {
			back()
		}
		if r != nil {
			for _, w := range x.What {
				check.Dropped(w)
			}
			d.dropWatched()
			r.Add(typ, at, bytes)
			r.Watch()
		}
	}
	d.checked.Get().Wait(x)
	d.leave(false)
}

// moved counts objects as in use, or as not.
func (b *budget) moved(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away += n
}

// put returns a report for a Put that is a mistake, which is to change nothing, and
// what is to be poisoned.
func put(q *check.Idle, l check.Loan, header unsafe.Pointer) *check.Released {
	what, bad := q.Put(l, header)
	if bad != nil {
		check.Raise(bad)
	}
	return what
}

// ok reports whether the Put of l is none that is a mistake, which it reports.
func ok(l check.Loan) bool {
	bad := l.Check()
	if bad != nil {
		check.Raise(bad)
	}
	return bad == nil
}

// keep returns a function that makes an object what it is now.
func keep(object reflect.Value) (restore func()) {
	held := reflect.New(object.Type()).Elem()
	held.Set(object)
	return func() {
		object.SetZero()
		object.Set(held)
	}
}

func loanOf(x unsafe.Pointer, typ reflect.Type, owner string) check.Loan {
	return check.Loan{P: x, Type: typ, Owner: owner}
}

// checks reports whether objects of the pool are checked. The pool is ready.
func (o *objects) checks() bool { return o.depot.size > 0 && check.Poisons(o.name) }

// getWatched is Get where each operation is watched.
func (o *objects) getWatched(null any) unsafe.Pointer {
	x := o.get(null)
	if check.Enabled && o.checks() {
		loanOf(x, o.elem, o.title()).Got(nil)
	}
	return x
}

// putChecked is Put.
func (o *objects) putChecked(x unsafe.Pointer) {
	l := loanOf(x, o.elem, o.title())
	if !ok(l) {
		return
	}
	if o.reset != nil {
		o.reset(x)
	}
	cost := o.depot.size
	if o.cost != nil {
		cost = o.costOf(x)
	}
	what := put(o.depot.checked.Get(), l, nil)
	if what == nil {
		return
	}
	var r *stale.Release
	w := check.Waiter{What: []*check.Released{what}, Cost: cost}
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	object := reflect.NewAt(l.Type, x).Elem()
	if o.hooks.Load()&hookPut != 0 && o.unmark(x, at) {
		r = stale.Begin("pool", o.name, nil)
	} else {
		restore := keep(object)
		w.Keeps = layout.HasPointers(l.Type)
		w.Back = func() {
			restore()
			track.Back(x, uintptr(o.depot.size))
			o.depot.put(x, uint(cost))
		}
	}
	object.SetZero()
	o.depot.wait(w, r, l.Type.String(), at, o.depot.size)
}
