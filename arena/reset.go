package arena

import (
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/track"
)

// reset is the Reset of a lane by itself.
func (l *lane) reset() {
	if l.heap || l.front == nil {
		return
	}
	if l.a != nil {
		l.a.checkUsable("Lane.Reset")
		if len(l.a.seldom().frames) > 0 {
			panic("arena: Lane.Reset while " + l.a.title() + " has an open Mark")
		}
		l.a.noteHighWater()
	}
	if l.rest(); !l.active {
		return
	}
	var r *track.Release
	keeps := l.a.keeps()
	if d := l.due.Due(keeps); d != 0 || check.Enabled || !keeps {
		r = l.releasing(d, keeps)
	}
	l.rewindTo(r)
	r.End()
	if l.a != nil { // it stays among the arena's active lanes
		l.active = true
		l.start()
	}
}

// rewind takes everything back: what was used is clear or left to the garbage collector,
// and one chunk stays at the most. It returns how many elements were in use, and whether
// the lane was used at all: if not, it is at rest and no longer listed.
//
// This is the way of a lane with one chunk, which it goes on handing out of, and no more
// than that: what is rare is in rewindTo.
func (l *lane) rewind(r *track.Release, epoch uint32) (used int, listed bool) {
	if track.Sees || r != nil || !l.active || l.others != nil || l.guarded {
		return l.rewindTo(r)
	}
	if used = l.n - l.free(); used == 0 {
		return l.rewindTo(r)
	}
	// A chunk that was not too large for a peak is not for the same peak.
	if l.top > 0 || !l.peak.Covers(used, epoch) {
		if l.settle(used) {
			l.drop()
			l.active = false
			return used, true
		}
	}
	l.wipe()
	return used, true
}

// idle reports whether the open chunk holds nothing and may go.
func (l *lane) idle() bool { return !l.active || l.others == nil && l.free() == l.n }

// rest lets a lane rest from which nothing was taken since the last Reset.
func (l *lane) rest() {
	if l.active && l.idle() {
		*l.at() = cursors{}
		l.active = false
	}
}

// rewindTo is rewind of any lane. The release r, if it is not nil, says which chunks the
// lane may use again.
func (l *lane) rewindTo(r *track.Release) (used int, listed bool) {
	l.rest()
	used = l.inUse()
	outgrown := l.settle(used)
	l.revoke()
	if l.guarded {
		l.shut()
	}
	switch answer := l.offer(r); {
	case answer == track.Nothing, l.others != nil && l.others.any():
		// Several chunks. Let them go; the next use makes a single one that
		// holds as much, which also saves clearing these, unless it is too
		// much to be kept.
		l.drop()
		l.forget(l.a.retained())
	case outgrown:
		l.drop()
	case answer == track.Another:
		l.renew(l.n)
	case l.active:
		l.wipe()
	}
	*l.at() = cursors{}
	l.active = false
	if r.Guards() {
		l.guard()
	}
	l.checkInvariants()
	return used, l.listed
}

// wipe clears what was handed out of the open chunk, and has it handed out anew.
func (l *lane) wipe() { l.do(opWipe, block{}, 0, 0) }

// any reports whether there is a chunk beside the open one.
func (r *further) any() bool { return len(r.full)+len(r.large)+len(r.spare) > 0 }

// drop leaves all chunks to the garbage collector.
func (l *lane) drop() {
	l.a.credit(l.reserved()*l.size, l.chunks())
	l.set(block{})
	l.others = nil
}

// idleBytes returns the size of the whole chunks that hold nothing.
func (l *lane) idleBytes() int {
	n := 0
	if l.idle() {
		n = l.n
	}
	if l.others != nil {
		for _, b := range l.others.spare {
			n += b.n
		}
	}
	return n * l.size
}

// dropIdle leaves the whole chunks that hold nothing to the garbage collector.
func (l *lane) dropIdle() {
	bytes, before := l.idleBytes(), l.chunks()
	if l.guarded {
		l.shutIdle()
	}
	if l.idle() && l.n > 0 {
		l.set(block{})
	}
	if l.others != nil {
		l.others.spare = nil
	}
	l.a.credit(bytes, before-l.chunks())
	l.checkInvariants()
}

// leave starts anew and leaves all memory to the garbage collector, as it is.
func (l *lane) leave() {
	l.note(l.inUse())
	l.drop()
	l.active, l.listed = false, false
	l.checkInvariants()
}

// forget keeps the lane from asking for more than most bytes in one go next
// time.
func (l *lane) forget(most int) {
	if l.size > 0 {
		l.peak.Cap(most / l.size)
	}
}

// settle is note, and reports whether the open chunk is too large to keep. A first
// chunk never is: replacing it would gain nothing.
func (l *lane) settle(used int) (outgrown bool) {
	l.note(used)
	return l.peak.Outgrown(l.n) && uintptr((l.n-1)*l.size) >= max(l.a.firstChunk(), chunk.First)
}

// note takes down, at a Reset, that used elements were in use.
func (l *lane) note(used int) {
	if l.listed = l.active || l.top > 0; l.listed {
		l.peak.Note(max(int(l.top), used), gccycle.Epoch())
		l.top = 0
	}
}

// end makes the lane unusable and drops its memory. Values handed out stay.
func (l *lane) end() {
	l.set(block{})
	l.others = nil
	l.active = false
	l.endShadows()
}
