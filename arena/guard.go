package arena

import (
	"math/rand/v2"

	"github.com/haven-mem/haven/internal/addr"
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
func (l *lane) owner() string {
	if l.a == nil {
		return "a Lane of its own"
	}
	return l.a.title()
}

// guard is called when the lane is at rest, and its chunk is clear.
func (l *lane) guard() {
	if l.n == 0 || l.heap || !guard.Fits(uintptr(l.n*l.size)) {
		return
	}
	if own := guard.Chunk(l.typ, l.n, l.owner(), l.a.place()); own != nil {
		l.set(block{own, l.n})
		l.guarded = true
	} else if guard.Hold(l.released(l.base, 0, l.n), l.a.place()) {
		l.renew(l.n)
	}
}

// released describes elements of a chunk.
func (l *lane) released(base *byte, from, to int) *check.Released {
	return &check.Released{Owner: l.owner(), Type: l.typ, N: to - from, Mem: addr.Add(base, from*l.size)}
}

// shut takes the access to chunks on pages of their own away, and puts new memory in
// their place.
func (l *lane) shut() {
	l.guarded = false
	if l.n > 0 && guard.Shut(addr.Add(l.base, 0)) {
		l.replace()
	}
	if l.rest == nil {
		return
	}
	for i := range l.rest.full {
		s := &l.rest.full[i]
		s.block = l.renewed(s.block)
	}
	for i, b := range l.rest.spare {
		l.rest.spare[i] = l.renewed(b)
	}
}

func (l *lane) renewed(b block) block {
	if !guard.Shut(addr.Data(b.mem)) {
		return b
	}
	return l.fresh(b.n)
}

// replace puts new memory in the place of the open chunk.
func (l *lane) replace() {
	lo, hi := *l.lo, *l.i
	l.renew(l.n)
	*l.lo, *l.i = lo, hi
}

// shutIdle takes the access to those away that hold nothing and are let go.
func (l *lane) shutIdle() {
	if !l.active && l.n > 0 {
		guard.Shut(addr.Add(l.base, 0))
	}
	if l.rest != nil {
		for _, b := range l.rest.spare {
			guard.Shut(addr.Data(b.mem))
		}
	}
}
