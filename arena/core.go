package arena

import (
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/track"
)

// A lane is what lanes of all types have in common: which chunks there are, and how
// much of each is used. What depends on the type it asks of its front. Counted in elements,
//
//	reserved = in use + idle + gaps
//
// where idle is what the open chunk and the spare chunks still have, and gaps
// is what was left over in chunks that a longer slice made the lane leave.
type lane struct {
	shadow           check.Only[shadow]
	a                *Arena   // nil for a lane on its own
	front                     // the part of the lane that knows its type
	others           *further // what there is beside the open chunk; nil in a steady state
	n                int      // elements of that chunk, or at rest of the clean one to open next
	next, nextListed *lane    // in the lists of the arena
	size             int      // bytes of an element

	// What is kept of the lane's use from Reset to Reset. The counts have few bits, for a
	// lane of a size class of Go's heap.
	peak    chunk.Peak // of elements
	top     uint32     // most elements in use at a Release since the last Reset, or all ones if that is more
	active  bool       // in use: since the last Reset, and any Release of all it had
	listed  bool       // in a.listed: used since the last Reset, or in the round before it
	guarded bool       // a chunk is on pages of its own, or was since the last Reset
	heap    bool       // of the nil arena: every value is an object of Go's heap

	due track.Countdown // Resets of the lane by itself to the next one that is watched
}

// The cursors lie in the typed part, right before the lane, and have no names there: with a
// struct around them New would cost too much to inline.
type cursors struct{ i, lo int }

// at returns the lane's cursors: [lo, i) of the open chunk is free.
func (l *lane) at() *cursors { return addr.Before[cursors](l) }

// A block is memory for n values of one type. That mem knows the type makes sure that
// what was made as a []T is never used as anything else: to get at the values is a type
// assertion.
type block struct {
	mem any // a []T; nil if n is 0
	n   int
}

// A further holds the chunks of a lane beside the open one.
type further struct {
	full     []span  // left behind, oldest first
	large    []block // slices with a chunk of their own
	largeLen int     // elements in large
	spare    []block // clean chunks that a Release gave back
	open     any     // the open chunk, once somebody asked for it
}

// A span is a chunk that was left with [lo, hi) of it never used.
type span struct {
	block
	lo, hi int
}

// bind makes l the common part of f. A copy of a lane has a front already, that of the
// other.
func (l *lane) bind(a *Arena, f front, size uintptr) {
	if l.front != nil {
		panic(fmt.Sprintf("arena: use of a copy of a Lane[%v] (%s): pass a *Lane", l.typ(), l.owner()))
	}
	l.a, l.front, l.size = a, f, int(size)
}

// slices returns the type of the lane's chunks.
func (l *lane) slices() reflect.Type {
	if d, ok := l.front.(*dynamic); ok {
		return d.buf.Type()
	}
	return reflect.ValueOf(l.front).Elem().Field(1).Type() // that of buf
}

// typ returns the type of the lane's values.
func (l *lane) typ() reflect.Type { return l.slices().Elem() }

// grow is New's way when the open chunk is used up.
//
//go:noinline
func (l *lane) grow(op string) {
	if l.reopen() {
		return
	}
	if err := l.more(op, 1); err != nil {
		panic(err)
	}
}

// quickLen is the length and the size up to which there are slices without a closer look.
const quickLen = 1 << 15

// mustTake is take that panics with the error.
func (l *lane) mustTake(op string, length, capacity int) (own any, at int) {
	own, at, err := l.take(op, length, capacity)
	if err != nil {
		panic(err)
	}
	return own, at
}

// take makes a slice: from the open chunk or a new one, or, where that would be mostly
// filled by it, in a chunk of its own, so that what is left of the open chunk stays in
// use. It begins at the given element of its own chunk, or, if that is nil, of the one
// that is open now.
func (l *lane) take(op string, length, capacity int) (own any, at int, err error) {
	if uint(length) > uint(capacity) || uint(capacity) > quickLen || l.size > quickLen {
		checkLen(op, l.typ(), length, capacity)
	}
	if l.heap {
		return l.fresh(capacity).mem, 0, nil
	}
	if capacity > l.free() || capacity == 0 {
		l.enter(op)
		if capacity == 0 { // it points into no chunk and keeps none
			return l.fresh(0).mem, 0, nil
		}
		if capacity > l.free() && capacity > l.spareLen() && capacity > l.nextLen()/2 {
			if l.n > 0 || capacity > l.peak.Want() && capacity*l.size > chunk.First/2 {
				b, err := l.takeLarge(capacity)
				return b.mem, 0, err
			}
		}
		if err := l.more(op, capacity); err != nil {
			return nil, 0, err
		}
	}
	at = l.at().lo
	l.advance(capacity)
	return nil, at, nil
}

// advance hands out the next n elements of the open chunk, from the low end.
func (l *lane) advance(n int) {
	at := l.at()
	at.lo += n
	l.handedOut(at.lo-n, at.lo)
	l.checkInvariants()
}

// takeLarge gives a slice a chunk of its own.
func (l *lane) takeLarge(n int) (block, error) {
	if _, err := l.a.chargeElems(n, n, l.size); err != nil {
		return block{}, err
	}
	r := l.further()
	b := l.fresh(n)
	r.large = append(r.large, b)
	r.largeLen += n
	l.noteLarge(b)
	l.checkInvariants()
	return b, nil
}

// fresh returns a new chunk for n elements, made by reflection: it is for what happens
// seldom, so that no code for it is compiled for each type.
func (l *lane) fresh(n int) block {
	return block{reflect.MakeSlice(l.slices(), n, n).Interface(), n}
}

// clear clears values of a chunk from lo up to hi, in the same way.
func (b block) clear(lo, hi int) {
	if lo < hi {
		reflect.ValueOf(b.mem).Slice(lo, hi).Clear()
	}
}

// reopen is the quick way of enter for a lane that was in use in the
// round before, the first step of each lane of a steady program in each round.
func (l *lane) reopen() bool {
	if l.active || !l.listed || l.n == 0 || l.a != nil && !l.a.isUsable() {
		return false
	}
	l.active = true
	l.at().i = l.n
	return true
}

// enter makes a lane that was at rest since the last Reset an active one, and
// opens the chunk it kept.
func (l *lane) enter(op string) {
	if l.active {
		return
	}
	if l.a != nil {
		l.a.checkUsable(op)
		l.enlist()
	}
	l.active = true
	l.start()
}

// start has the open chunk, which is clean, handed out from its ends.
func (l *lane) start() {
	*l.at() = cursors{l.n, 0}
	l.withhold()
}

// set makes b the open chunk, at rest.
func (l *lane) set(b block) { l.open(opOpen, b) }

// renew makes a new chunk the open one, at rest.
func (l *lane) renew(n int) { l.open(opGrow, block{n: n}) }

func (l *lane) open(o op, b block) {
	l.do(o, b, 0, 0)
	*l.at() = cursors{}
	l.n = b.n
	if l.others != nil {
		l.others.open = b.mem
	}
}

// base returns where the open chunk begins.
func (l *lane) base() *byte { return addr.Memory(addr.Pointer(l.do(opBase, block{}, 0, 0))) }

// chunk returns the open chunk. It costs a small object the first time, which a lane
// with one chunk does without.
func (l *lane) chunk() block {
	if l.n == 0 {
		return block{}
	}
	if l.others != nil && l.others.open != nil {
		return block{l.others.open, l.n}
	}
	return block{l.do(opChunk, block{}, 0, 0), l.n}
}

// more makes the open chunk one with at least n free elements.
func (l *lane) more(op string, n int) error {
	if l.heap {
		l.renew(n)
		l.at().i = n
		return nil
	}
	l.enter(op)
	if l.free() >= n {
		return nil
	}
	if b := l.takeSpare(n); b.n > 0 {
		l.leaveOpen()
		l.set(b)
	} else {
		granted, err := l.a.chargeElems(max(n, l.nextLen()), n, l.size)
		if err != nil {
			return err
		}
		if l.a == nil && granted*l.size > chunk.First {
			gccycle.Count()
		}
		l.hint(n)
		l.leaveOpen()
		l.renew(granted)
	}
	l.start()
	if l.a != nil {
		l.a.near = l.front
	}
	l.checkInvariants()
	return nil
}

// leaveOpen puts the open chunk with the full ones.
func (l *lane) leaveOpen() {
	if l.n > 0 {
		r, at := l.further(), l.at()
		r.full = append(r.full, span{l.chunk(), at.lo, at.i})
	}
}

// nextLen returns the length of the chunk that growth asks for: one of the
// remembered size after a Reset, then ever doubled.
func (l *lane) nextLen() int {
	limit, size := uintptr(chunk.MaxGrowth), uintptr(l.size)
	if l.a != nil && l.a.seldom().max > 0 {
		limit = uintptr(l.a.rare.max)
	}
	last := l.n
	if l.others != nil {
		last = max(last, l.others.largeLen)
	}
	if last > 0 {
		return chunk.NextElems(last, size, limit)
	}
	want, first := l.peak.Want(), l.a.firstChunk()
	n := chunk.Fill(want, size)
	if n > 0 && !l.a.keeps() && l.size > 0 { // made anew each time: not larger than it must be
		return max(n, watchable/l.size+1)
	}
	if first == 0 {
		if first = chunk.WithHeader(chunk.First); want == 0 {
			first = l.hinted()
		}
	}
	return max(chunk.FirstElems(min(first, limit), size), n)
}

// watchable is the size that an object may not be smaller than to be watched.
const watchable = stale.Least

// free returns the number of elements between the cursors.
func (l *lane) free() int { return l.at().i - l.at().lo }

// further returns the record of further chunks, made on first use.
func (l *lane) further() *further {
	if l.others == nil {
		l.others = new(further)
	}
	return l.others
}

// spareLen returns the length of the spare chunk that is next in turn.
func (l *lane) spareLen() int {
	if l.others == nil || len(l.others.spare) == 0 {
		return 0
	}
	return l.others.spare[len(l.others.spare)-1].n
}

// takeSpare takes the last spare chunk if n elements fit.
func (l *lane) takeSpare(n int) block {
	if l.spareLen() < n {
		return block{}
	}
	r := l.others
	k := len(r.spare) - 1
	b := r.spare[k]
	r.spare[k] = block{}
	r.spare = r.spare[:k]
	return b
}

// enlist puts the lane on its arena's list of those that the next Reset visits.
func (l *lane) enlist() {
	if !l.listed {
		l.listed = true
		l.nextListed, l.a.listed = l.a.listed, l
		l.a.uses++
	}
}

// checkInvariants verifies the equation of the type's comment, in the check
// build only.
func (l *lane) checkInvariants() {
	if !check.Enabled || l.heap {
		return
	}
	if lo, hi := l.at().lo, l.at().i; l.active && (lo < 0 || hi > l.n || lo > hi) {
		panic("arena: lane out of bounds: " + l.stats().String())
	}
	if st := l.stats(); st.Reserved != st.InUse+st.Idle+st.Gaps {
		panic("arena: lane does not add up: " + st.String())
	}
}
