package arena

import (
	"github.com/haven-mem/haven/internal/addr"
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

// guard is called when the lane is at rest, and its chunk is clear.
func (l *lane) guard() {
	if l.n == 0 || l.heap || !guard.Fits(uintptr(l.n*l.size)) {
		return
	}
	var made *leak.Site
	if l.a != nil {
		made = l.a.seldom().made
	}
	if own := guard.Chunk(l.typ(), l.n, l.owner(), made); own != nil {
		l.set(block{own, l.n})
		l.guarded = true
	} else if guard.Hold(l.released(l.base(), 0, l.n), made) {
		l.renew(l.n)
	}
}

// shut takes the access to chunks on pages of their own away, and puts new memory in
// their place.
func (l *lane) shut() {
	l.guarded = false
	if l.n > 0 && guard.Shut(addr.Add(l.base(), 0)) {
		l.replace()
	}
	if l.others == nil {
		return
	}
	for i := range l.others.full {
		s := &l.others.full[i]
		s.block = l.renewed(s.block)
	}
	for i, b := range l.others.spare {
		l.others.spare[i] = l.renewed(b)
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
	at := *l.at()
	l.renew(l.n)
	*l.at() = at
}

// shutIdle takes the access to those away that hold nothing and are let go.
func (l *lane) shutIdle() {
	if l.idle() && l.n > 0 {
		guard.Shut(addr.Add(l.base(), 0))
	}
	if l.others != nil {
		for _, b := range l.others.spare {
			guard.Shut(addr.Data(b.mem))
		}
	}
}
