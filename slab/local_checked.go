package slab

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// A Local in the check build: as a cache, it knows its objects by their addresses,
// and those that are freed wait in a queue before they go to the magazine. So each
// mistake is found at the Free that makes it.

// allocChecked is Alloc.
func (l *Local[T]) allocChecked() *T {
	if l.i == 0 {
		l.refill()
	}
	l.i--
	p := l.mag[l.i]
	l.checked.Alloc(unsafe.Pointer(p), "", l.title(), reflect.TypeFor[T]())
	return p
}

// freeChecked is Free.
func (l *Local[T]) freeChecked(p *T) {
	_ = *p // as there, nil is an error of the runtime
	if l.size() == 0 {
		l.giveOne(p)
		return
	}
	if bad := l.checked.Check(unsafe.Pointer(p), l.title()); bad != nil {
		check.Raise(bad)
		return
	}
	wipe(p)
	l.checked.Free(unsafe.Pointer(p), nil)
	l.leave(false)
}

// leave gives objects that have waited long enough, or all, to the magazine.
func (l *Local[T]) leave(all bool) {
	for range l.checked.Waiting() {
		h, bad := l.checked.Leave(all)
		if h.P == nil {
			return
		}
		wipe((*T)(h.P))
		l.giveOne((*T)(h.P))
		if bad != nil {
			check.Raise(bad)
		}
	}
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
