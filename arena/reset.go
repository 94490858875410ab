package arena

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Reset takes back every value the lane handed out and keeps the memory for
// the next ones. It clears what was used, so it costs what was used, and
// joins several chunks into one of the size that was needed. A lane of an arena
// may be reset by itself, but not while the arena has an open [Mark]; then it
// panics, as it does after Free of the arena.
func (l *Lane[T]) Reset() {
	if l.heap {
		return
	}
	if l.a != nil {
		l.a.checkUsable("Lane.Reset")
		if len(l.a.frames) > 0 {
			panic("arena: Lane.Reset while " + l.a.title() + " has an open Mark")
		}
		l.a.noteHighWater()
	}
	if l.active {
		var r *escape.Release
		if l.watched.Due() && escape.Affords(l.reserved()*l.size()) {
			r = l.a.beginRelease()
		}
		l.rewindTo(r)
		if check.Enabled {
			l.endRelease()
		}
		r.Watch()
		if guard.On() && guard.Due() {
			l.guard()
		}
		if l.a != nil { // it stays among the arena's active lanes
			l.active = true
			l.open(l.buf)
		}
	}
}

// rewind puts the lane to rest: everything is taken back, what was used is
// clear or left to the garbage collector, and one chunk stays at the most. It
// returns how many bytes were in use, and whether the lane was used at all: if
// not, it is no longer listed.
//
// This is the way of a lane with one chunk, and no more than that: what is rare is in
// rewindTo. There is a copy of this code for each type, and a Reset goes through many.
func (l *Lane[T]) rewind() (bytes int, listed bool) {
	if check.Enabled || sanitize.Enabled || !l.active || l.rest != nil || l.guarded {
		return l.rewindTo(nil)
	}
	used := len(l.buf) - l.i
	if l.settle(used, len(l.buf), unsafe.Sizeof(*new(T))) {
		l.drop()
	} else {
		l.wipe()
	}
	l.free, l.i = nil, 0
	l.active = false
	return used * l.size(), true
}

// rewindTo is rewind of any lane. If r is not nil the chunks of a lane in use are added
// to it, and none stays.
func (l *Lane[T]) rewindTo(r *escape.Release) (bytes int, listed bool) {
	used := l.inUse()
	outgrown := l.settle(used, len(l.buf), unsafe.Sizeof(*new(T)))
	if check.Enabled && l.retireAll() {
		r = nil // they are watched when they leave the quarantine
	}
	l.revoke()
	if l.guarded {
		l.shut()
	}
	switch {
	case r != nil && l.active:
		l.surrender(r)
	case l.rest != nil && l.rest.any():
		// Several chunks. Let them go; the next use makes a single one that
		// holds as much, which also saves clearing these, unless it is too
		// much to be kept.
		l.drop()
		l.forget(l.a.retained())
	case outgrown:
		l.drop()
	case l.active:
		l.wipe()
	}
	l.free, l.i = nil, 0
	l.active = false
	l.checkInvariants()
	return used * l.size(), l.listed
}

// wipe clears what was handed out of the open chunk.
func (l *Lane[T]) wipe() {
	lo, hi := l.bounds()
	if lo > 0 {
		clear(l.buf[:lo])
	}
	if hi < len(l.buf) {
		clear(l.buf[hi:])
	}
}

// any reports whether there is a chunk beside the open one.
func (r *rest[T]) any() bool { return len(r.full)+len(r.large)+len(r.spare) > 0 }

// drop leaves all chunks to the garbage collector.
func (l *Lane[T]) drop() {
	l.a.credit(l.reserved()*l.size(), l.chunks())
	l.buf, l.rest = nil, nil
}

// idleBytes returns the size of the whole chunks that hold nothing.
func (l *Lane[T]) idleBytes() int {
	n := 0
	if !l.active {
		n = len(l.buf)
	}
	if l.rest != nil {
		for _, s := range l.rest.spare {
			n += len(s)
		}
	}
	return n * l.size()
}

// dropIdle leaves the whole chunks that hold nothing to the garbage collector.
func (l *Lane[T]) dropIdle() {
	bytes, before := l.idleBytes(), l.chunks()
	if l.guarded {
		l.shutIdle()
	}
	if !l.active {
		l.buf = nil
	}
	if l.rest != nil {
		l.rest.spare = nil
	}
	l.a.credit(bytes, before-l.chunks())
	l.checkInvariants()
}

// leave starts anew and leaves all memory to the garbage collector, as it is.
func (l *Lane[T]) leave() {
	l.note(l.inUse())
	l.drop()
	l.free, l.i = nil, 0
	l.active, l.listed = false, false
	l.checkInvariants()
}

// forget keeps the lane from asking for more than most bytes in one go next
// time.
func (l *Lane[T]) forget(most int) {
	if size := l.size(); size > 0 {
		l.peak.Cap(most / size)
	}
}

// settle is note, and reports whether a chunk of so many elements of size bytes is too
// large to keep. A first chunk never is: replacing it would gain nothing.
//
//go:noinline
func (r *record) settle(used, elems int, size uintptr) (outgrown bool) {
	r.note(used)
	return uintptr(elems-1)*size >= r.a.firstChunk() && r.peak.Outgrown(elems)
}

// note takes down, at a Reset, that used elements were in use.
func (r *record) note(used int) {
	r.listed = r.active || r.top > 0
	r.peak.Note(max(r.top, used))
	r.top = 0
	if r.a != nil && r.listed {
		r.last = r.a.resets
	}
}

// enlist puts l, the lane whose record it is, on its arena's list of those that
// the next Reset visits.
func (r *record) enlist(l lane) {
	if !r.listed {
		r.listed = true
		r.a.listed = append(r.a.listed, l)
	}
}

// idleSince returns the count of the Reset at which the lane was last in use.
func (r *record) idleSince() uint64 {
	if r.active {
		return r.a.resets
	}
	return r.last
}

// end makes the lane unusable and drops its memory. Values handed out stay.
func (l *Lane[T]) end() {
	l.free, l.i, l.buf, l.rest = nil, 0, nil, nil
	l.active = false
}
