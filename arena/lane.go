package arena

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A Lane is the bump region of one type: the fastest way to allocate values of
// T in an arena. Get one with [LaneOf] before a hot loop, or use one on its own:
// the zero Lane is ready and has no limit.
//
// A Lane that belongs to an arena lives and ends with it. It is for one
// goroutine at a time and must not be copied. What it hands out is zero, and
// stays valid for as long as anything points to it; after Reset the same memory
// is handed out again, so a pointer from before reads another T.
//
// In memory, objects come down from the end of the open chunk and slices go up
// from its start, so that the last slice can grow in place:
//
//	buf   [ slices │ free: i elements │ objects ]
//	      0        lo                 lo+i      len(buf)
//
// free is buf[lo:], so lo is len(buf)-len(free). Counted in elements,
//
//	reserved = in use + idle + gaps
//
// where idle is what the open chunk and the spare chunks still have, and gaps
// is what was left over in chunks that a longer slice made the lane leave.
type Lane[T any] struct {
	_ noCopy
	shadow[T]
	free []T // buf[lo:]; nil while no chunk is open
	i    int // free elements: New hands out free[i-1]

	buf  []T      // the open chunk; when closed, the clean chunk to open next
	rest *rest[T] // what there is beside the open chunk; nil in a steady state
	record
	heap bool // of the nil arena: every value is an object of Go's heap
}

// A record is what lanes of either kind keep of their use from Reset to Reset.
type record struct {
	a       *Arena     // nil for a lane on its own
	peak    chunk.Peak // of elements
	top     int        // most elements in use at a Release since the last Reset
	last    uint64     // the Reset (counted) at which the lane was last in use
	active  bool       // in use: since the last Reset, and any Release of all it had
	listed  bool       // in a.listed: used since the last Reset, or in the round before it
	guarded bool       // a chunk is on pages of its own, or was since the last Reset

	watched escape.Countdown // Resets of the lane by itself to the next one that is watched
}

// rest holds the chunks of a lane other than the open one.
type rest[T any] struct {
	full     []span[T] // left behind, oldest first
	large    [][]T     // slices with a chunk of their own
	largeLen int       // elements in large
	spare    [][]T     // clean chunks that a Release gave back
}

// A span is a chunk that was left with buf[lo:hi] never used.
type span[T any] struct {
	buf    []T
	lo, hi int
}

// size returns the bytes of one T.
func (l *Lane[T]) size() int { return int(unsafe.Sizeof(*new(T))) }

// New returns a zero T. It inlines: a compare, a decrement and a bounds check.
// It panics with a [*LimitError] if the arena's limit is reached, and if the
// arena was freed.
func (l *Lane[T]) New() *T {
	if check.Enabled {
		return l.newChecked()
	}
	if sanitize.Poisons {
		return l.newGranted()
	}
	if l.i == 0 {
		l.grow()
	}
	l.i--
	return &l.free[l.i]
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
	// A capacity of 0 or below goes the slow way, too: the one is rare, and
	// would make a nil slice of a lane without a chunk; the other is misuse.
	if uint(length) > uint(capacity) || uint(capacity-1) >= uint(l.i) {
		return l.mustMake(length, capacity)
	}
	return l.cut(length, capacity)
}

// cut takes a slice off the front of the free part, which has room for it. It
// inlines.
func (l *Lane[T]) cut(length, capacity int) []T {
	s := l.free[:length:capacity]
	l.free = l.free[capacity:]
	l.i -= capacity
	if check.Enabled {
		l.noteSlice(capacity)
	}
	if sanitize.Poisons {
		sanitize.GrantAll(s[:capacity])
	}
	return s
}

// mustMake is MakeSlice's slow way.
//
//go:noinline
func (l *Lane[T]) mustMake(length, capacity int) []T {
	s, err := l.makeSlow("MakeSlice", length, capacity)
	if err != nil {
		panic(err)
	}
	return s
}

// grow is New's way when the open chunk is used up.
//
//go:noinline
func (l *Lane[T]) grow() {
	if l.reopen() {
		return
	}
	if err := l.more("New", 1); err != nil {
		panic(err)
	}
}

// makeSlow makes the slices that do not fit the open chunk: in a new one, or,
// when they would fill most of it, in a chunk of their own, so that what is
// left of the open chunk stays in use.
func (l *Lane[T]) makeSlow(op string, length, capacity int) ([]T, error) {
	checkLen[T](op, length, capacity)
	if l.heap {
		return make([]T, length, capacity), nil
	}
	if capacity > l.i || capacity == 0 {
		l.enter(op)
		if capacity == 0 {
			return []T{}, nil // points into no chunk and keeps none
		}
		if capacity > l.i && capacity > l.spareLen() && capacity > l.nextLen()/2 {
			if len(l.buf) > 0 || capacity > l.peak.Want() {
				return l.makeLarge(length, capacity)
			}
		}
		if err := l.more(op, capacity); err != nil {
			return nil, err
		}
	}
	s := l.cut(length, capacity)
	l.checkInvariants()
	return s, nil
}

// makeLarge gives a slice a chunk of its own.
func (l *Lane[T]) makeLarge(length, capacity int) ([]T, error) {
	if _, err := l.a.chargeElems(capacity, capacity, l.size()); err != nil {
		return nil, err
	}
	r := l.others()
	buf := make([]T, capacity)
	r.large = append(r.large, buf)
	r.largeLen += capacity
	if check.Enabled {
		l.noteLarge(buf)
	}
	l.checkInvariants()
	return buf[:length:capacity], nil
}

// reopen is the quick way of enter and open for a lane that was in use in the
// round before, the first step of each lane of a steady program in each round.
func (l *Lane[T]) reopen() bool {
	if l.active || !l.listed || len(l.buf) == 0 || l.a != nil && !l.a.isUsable() {
		return false
	}
	l.active = true
	l.free, l.i = l.buf, len(l.buf)
	return true
}

// enter makes a lane that was at rest since the last Reset an active one, and
// opens the chunk it kept.
func (l *Lane[T]) enter(op string) {
	if l.active {
		return
	}
	if l.a != nil {
		l.a.checkUsable(op)
		l.enlist(l)
	}
	l.active = true
	l.open(l.buf)
}

// open makes buf, which is clean, the open chunk.
func (l *Lane[T]) open(buf []T) {
	l.buf, l.free, l.i = buf, buf, len(buf)
	if sanitize.Poisons {
		sanitize.WithholdAll(buf)
	}
}

// more makes the open chunk one with at least n free elements.
func (l *Lane[T]) more(op string, n int) error {
	if l.heap {
		l.free, l.i = make([]T, n), n
		return nil
	}
	l.enter(op)
	if l.i >= n {
		return nil
	}
	buf := l.takeSpare(n)
	if buf == nil {
		granted, err := l.a.chargeElems(max(n, l.nextLen()), n, l.size())
		if err != nil {
			return err
		}
		buf = make([]T, granted)
	}
	if len(l.buf) > 0 {
		lo, hi := l.bounds()
		r := l.others()
		r.full = append(r.full, span[T]{l.buf, lo, hi})
	}
	l.open(buf)
	l.checkInvariants()
	return nil
}

// nextLen returns the length of the chunk that growth asks for: one of the
// remembered size after a Reset, then ever doubled.
func (l *Lane[T]) nextLen() int {
	first, limit := l.a.chunkSizes()
	size := uintptr(l.size())
	last := len(l.buf)
	if l.rest != nil {
		last = max(last, l.rest.largeLen)
	}
	if last > 0 {
		return chunk.NextElems(last, size, limit)
	}
	return max(chunk.Elems(first, size), chunk.Fill(l.peak.Want(), size))
}

// bounds returns the ends of the open chunk's unused part.
func (l *Lane[T]) bounds() (lo, hi int) {
	lo = len(l.buf) - len(l.free)
	return lo, lo + l.i
}

// others returns the record of further chunks, made on first use.
func (l *Lane[T]) others() *rest[T] {
	if l.rest == nil {
		l.rest = new(rest[T])
	}
	return l.rest
}

// spareLen returns the length of the spare chunk that is next in turn.
func (l *Lane[T]) spareLen() int {
	if l.rest == nil || len(l.rest.spare) == 0 {
		return 0
	}
	return len(l.rest.spare[len(l.rest.spare)-1])
}

// takeSpare takes the last spare chunk if n elements fit.
func (l *Lane[T]) takeSpare(n int) []T {
	if l.spareLen() < n {
		return nil
	}
	r := l.rest
	k := len(r.spare) - 1
	buf := r.spare[k]
	r.spare[k] = nil
	r.spare = r.spare[:k]
	return buf
}

// String describes the lane in a line.
func (l *Lane[T]) String() string { return l.stats().String() }

// checkInvariants verifies the equation of the type's comment, in the check
// build only.
func (l *Lane[T]) checkInvariants() {
	if !check.Enabled || l.heap {
		return
	}
	lo, hi := l.bounds()
	if l.active && (lo < 0 || hi > len(l.buf) || l.i < 0) {
		panic("arena: lane out of bounds: " + l.String())
	}
	if st := l.stats(); st.Reserved != st.InUse+st.Idle+st.Gaps {
		panic("arena: lane does not add up: " + st.String())
	}
	if l.size() > 0 && len(l.free) > 0 && !addr.Within(l.free, l.buf) {
		panic("arena: lane's free part is not of its chunk")
	}
}
