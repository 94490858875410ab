package arena

import (
	"math/rand/v2"

	"github.com/haven-mem/haven/internal/stale"
)

// Stale pointers: those into memory that was taken back by Reset, or by what is built
// on it. Of one Reset in 1024 the chunks of one type are not used again, and
// whoever still refers to one after two garbage collections is found, see package
// internal/stale. With all of an arena's types a request in a thousand would be
// many times as slow, which is what a p99.9 shows.
//
// The chunks are cleared, as they are in any Reset: otherwise the one that is
// referred to would hold the others, of all lanes.
//
// Release of a Mark is not watched: what it takes back shares chunks with what was
// there before.

// choose begins a release, of one of the lanes that were in use or, if one is -1, of
// each. It may be nil, for none.
func (a *Arena) choose() (r *stale.Release, one int) {
	one = -1
	if !stale.Each() {
		one = rand.IntN(len(a.listed))
		if l := a.listed[one]; !stale.Affords(l.reserved() * l.size) {
			return nil, one
		}
	}
	return a.beginRelease(), one
}

// beginRelease returns a release of a's memory. A nil arena is that of a lane on
// its own.
func (a *Arena) beginRelease() *stale.Release {
	if a == nil {
		return stale.Begin("lane", "", nil)
	}
	return stale.Begin("arena", a.name, a.made)
}

// surrender clears the lane's chunks in use, adds them to a release, and leaves them.
func (l *lane) surrender(r *stale.Release) {
	typ := l.typ.String()
	add := func(b block, lo, hi int) {
		if b.n > 0 {
			b.clear(0, lo)
			b.clear(hi, b.n)
			r.Add(typ, b.base(), b.n*l.size)
		}
	}
	add(l.chunk(), *l.lo, *l.i)
	if o := l.rest; o != nil {
		for _, s := range o.full {
			add(s.block, s.lo, s.hi)
		}
		for _, b := range o.large {
			add(b, 0, 0)
		}
	}
	l.drop()
	l.forget(l.a.retained())
}
