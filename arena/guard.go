package arena

import (
	"math/rand/v2"
	"reflect"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/leak"
)

// The sampled guard: package internal/guard.
//
// Of a Reset that is sampled, a chunk of one lane is. If the type has pointers, the
// chunk that was taken back is poisoned and held, and a new one of the same length is
// in its place. If it has none, the chunk for what comes next lies on pages of its own,
// which have no access from the next Reset on.
//
// Only Reset takes the access away. What Free and memory contexts leave to the garbage
// collector stays as it is, in a slot that is lost; and so does what a Release of a
// Mark takes back, until the next Reset.

// guard has chunks of the arena guarded, all of whose lanes are at rest, if it is their
// turn.
func (a *Arena) guard() {
	switch {
	case len(a.listed) == 0:
	case guard.Each():
		for _, l := range a.listed {
			l.guard()
		}
	case a.guarded.Due():
		a.listed[rand.IntN(len(a.listed))].guard()
	}
}

// place returns where the arena was made, if that is known.
func (a *Arena) place() *leak.Site {
	if a == nil {
		return nil
	}
	return a.made
}

// owner says in reports whose memory it is.
func (l *Lane[T]) owner() string {
	if l.a == nil {
		return "a Lane of its own"
	}
	return l.a.title()
}

// guard is called when the lane is at rest, and its chunk is clear.
func (l *Lane[T]) guard() {
	n := len(l.buf)
	if n == 0 || l.heap || !guard.Fits(uintptr(n*l.size())) {
		return
	}
	if own := guard.Chunk[T](n, l.owner(), l.a.place()); own != nil {
		l.buf, l.guarded = own, true
	} else if guard.Hold(check.Of(l.buf, l.owner(), nil, 0), l.a.place()) {
		l.buf = make([]T, n)
	}
}

// shut takes the access to chunks on pages of their own away, and puts new memory in
// their place.
func (l *Lane[T]) shut() {
	l.guarded = false
	l.buf = renewed(l.buf)
	if l.rest == nil {
		return
	}
	for i := range l.rest.full {
		s := &l.rest.full[i]
		s.buf = renewed(s.buf)
	}
	for i, buf := range l.rest.spare {
		l.rest.spare[i] = renewed(buf)
	}
}

func renewed[T any](buf []T) []T {
	if !guard.Shut(buf) {
		return buf
	}
	return make([]T, len(buf))
}

// shutIdle takes the access to those away that hold nothing and are let go.
func (l *Lane[T]) shutIdle() {
	if !l.active {
		guard.Shut(l.buf)
	}
	if l.rest != nil {
		for _, buf := range l.rest.spare {
			guard.Shut(buf)
		}
	}
}

// guard is that of a Lane. A chunk of reflection's is never on pages of its own.
func (l *dynamicLane) guard() {
	if len(l.chunks) != 1 {
		return
	}
	c := l.chunks[0]
	what := &check.Released{Owner: l.a.title(), Type: l.typ, Mem: c.UnsafePointer(), N: c.Len()}
	if guard.Hold(what, l.a.place()) {
		c.Set(reflect.MakeSlice(c.Type(), c.Len(), c.Len()))
	}
}
