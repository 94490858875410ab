package slab

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// A Local in the check build: as a cache, it knows its objects by their addresses,
// and those that are freed wait in a queue before they go to the magazine. So each
// mistake is found at the Free that makes it.

// begin begins an operation, in which nothing calls back into the program.
func (l *Local[T]) begin() *check.Busy {
	l.busy.Enter(check.Here(3), l.title)
	return &l.busy
}

// allocChecked is Alloc.
func (l *Local[T]) allocChecked() *T {
	defer l.begin().Exit()
	p := l.pop()
	l.checked.Alloc(unsafe.Pointer(p), "", l.title(), reflect.TypeFor[T]())
	return p
}

// freeChecked is Free.
func (l *Local[T]) freeChecked(p *T) {
	_ = *p // as there, nil is an error of the runtime
	if bad := l.freeOne(p); bad != nil {
		check.Raise(bad)
	}
}

// freeOne is Free but for the report.
func (l *Local[T]) freeOne(p *T) *check.Report {
	defer l.begin().Exit()
	if l.size() == 0 {
		l.giveOne(p)
		return nil
	}
	if bad := l.checked.Check(unsafe.Pointer(p), l.title()); bad != nil {
		return bad
	}
	wipe(p)
	l.checked.Free(unsafe.Pointer(p), nil)
	return l.leave(false)
}

// leaveAll gives all objects that wait to the magazine.
func (l *Local[T]) leaveAll() {
	for l.checked.Waiting() > 0 {
		if bad := l.leaveBusy(); bad != nil {
			check.Raise(bad)
		}
	}
}

func (l *Local[T]) leaveBusy() *check.Report {
	defer l.begin().Exit()
	return l.leave(true)
}

// leave gives objects that have waited long enough, or all, to the magazine, up to one
// that was written to.
func (l *Local[T]) leave(all bool) *check.Report {
	for range l.checked.Waiting() {
		h, bad := l.checked.Leave(all)
		if h.P == nil {
			break
		}
		wipe((*T)(h.P))
		l.giveOne((*T)(h.P))
		if bad != nil {
			return bad
		}
	}
	return nil
}

// giveOne adds p to the magazine.
func (l *Local[T]) giveOne(p *T) {
	l.mag[l.i] = p
	l.i++
	if l.i == l.full {
		l.spillOver()
	}
}

// title returns what reports call the Local.
func (l *Local[T]) title() string { return "a Local" }
