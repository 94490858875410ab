package arena

import (
	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/track"
)

// A Lane is the bump region of one type: the fastest way to allocate values of
// T in an arena. Get one with [LaneOf] before a hot loop, or use one on its own:
// the zero Lane is ready and has no limit.
//
// A Lane that belongs to an arena lives and ends with it. It is for one
// goroutine at a time and must not be copied. What it hands out is zero, and
// stays valid for as long as anything points to it; after Reset the same memory
// is handed out again, so a pointer from before reads another T.
type Lane[T any] typed[T]

// A typed is the part of a lane that is compiled for each type: the cursors that the
// fast paths move, and in c, which is the same code for all types, everything else.
//
// In memory, objects come down from the end of the open chunk and slices go up from
// its start, so that the last slice can grow in place:
//
//	buf   [ slices │ free │ objects ]
//	      0        lo     i         len(buf)
//
// A lane at rest has lo = i = 0, and buf is the clean chunk to open next.
//
// Each function with a type parameter is compiled for each type of a program, so
// there are few, and they are short. An arena has lanes as *typed[T] and not as
// *Lane[T]: a type that is converted to an interface has all its methods compiled,
// and this one has one.
type typed[T any] struct {
	_   noCopy
	buf []T // the open chunk
	i   int // New hands out buf[i-1]
	lo  int // MakeSlice hands out buf[lo:]
	c   lane
}

// A front is the part of a lane that knows its type, and what it does for the other.
// That is one method, as each is compiled twice for each type.
type front interface {
	do(o op, b block, lo, hi int) any
}

type op uint8

const (
	opGrow  op = iota // hand out of a new []T of b.n values from now on
	opOpen            // hand out of b from now on
	opChunk           // return the chunk that is handed out of
	opBase            // return a pointer to its first value, if it has one
	opClear           // clear its values from lo up to hi
	opWipe            // clear what was handed out of it, and begin anew
)

func (l *typed[T]) do(o op, b block, lo, hi int) any {
	if o == opWipe { // first, as each Reset does it with each lane
		clear(l.buf[:l.lo])
		clear(l.buf[l.i:])
		l.lo, l.i = 0, len(l.buf)
		return nil
	}
	switch o {
	case opGrow:
		l.buf = make([]T, b.n)
	case opOpen:
		l.buf, _ = b.mem.([]T)
	case opChunk:
		return l.buf
	case opClear:
		clear(l.buf[lo:hi])
	case opBase:
		if len(l.buf) > 0 {
			return &l.buf[0]
		}
	}
	return nil
}

// New returns a zero T. It inlines: a compare, a decrement and a bounds check.
// It panics with a [*LimitError] if the arena's limit is reached, and if the
// arena was freed.
func (l *Lane[T]) New() *T {
	if track.Watched {
		return newWatched(l.ready())
	}
	if l.i == l.lo {
		l.grow()
	}
	l.i--
	return &l.buf[l.i]
}

// grow is New's way when the open chunk is used up.
//
//go:noinline
func (l *Lane[T]) grow() { l.ready().c.grow("New") }

// ready returns the lane, bound if it is one on its own that was never used.
func (l *Lane[T]) ready() *typed[T] {
	t := (*typed[T])(l)
	if t.c.front != front(t) {
		t.c.bind(nil, t, addr.Size[T]())
	}
	return t
}

// newWatched is New where each allocation is noted.
func newWatched[T any](l *typed[T]) *T {
	if l.i == l.lo {
		l.c.grow("New")
	}
	l.i--
	l.c.handedOut(l.i, l.i+1)
	return &l.buf[l.i]
}

// NewFrom returns a T that holds v. It panics as New does.
func (l *Lane[T]) NewFrom(v T) *T {
	p := l.New()
	*p = v
	return p
}

// MakeSlice returns a zero slice of the given length and capacity in elements.
// It panics if length is negative or above capacity, if the slice is larger
// than the address space, and as New does.
func (l *Lane[T]) MakeSlice(length, capacity int) []T {
	if fits(l.i-l.lo, length, capacity) {
		l.lo += capacity
		return l.buf[l.lo-capacity : l.lo-capacity+length : l.lo]
	}
	return makeSlow(l.ready(), length, capacity)
}

// fits reports whether a slice is to be cut out of that many free elements. A capacity
// of 0 or below is not: the one is rare, and would make a nil slice of a lane without a
// chunk; the other is misuse.
func fits(free, length, capacity int) bool {
	return uint(length) <= uint(capacity) && uint(capacity-1) < uint(free) && !track.Watched
}

// makeSlow is MakeSlice's slow way.
//
//go:noinline
func makeSlow[T any](l *typed[T], length, capacity int) []T {
	own, at := l.c.mustTake("MakeSlice", length, capacity)
	s, ok := own.([]T) // as chunkOf, which would be 0.4 KB more for each type
	if !ok {
		s = l.buf
	}
	return s[at : at+length : at+capacity]
}

// chunkOf returns the chunk that take made a slice in.
func chunkOf[T any](l *typed[T], own any) []T {
	if s, ok := own.([]T); ok {
		return s
	}
	return l.buf
}

// Push is the function [Push] for the lane's type and memory.
func (l *Lane[T]) Push(s []T, v T) []T {
	if !hasRoom(l.buf, s, 1) {
		s = mustRoom((*typed[T])(l), "Push", s, 1)
	}
	return append(s, v)
}

// Append is the function [Append] for the lane's type and memory.
func (l *Lane[T]) Append(s []T, vs ...T) []T {
	return appendTo((*typed[T])(l), s, vs)
}

// Reset takes back every value the lane handed out and keeps the memory for
// the next ones. It clears what was used, so it costs what was used, and
// joins several chunks into one of the size that was needed. A lane of an arena
// may be reset by itself, but not while the arena has an open [Mark]; then it
// panics, as it does after Free of the arena.
func (l *Lane[T]) Reset() { l.c.reset() }

// String describes the lane in a line.
func (l *Lane[T]) String() string { return l.ready().c.stats().String() }
