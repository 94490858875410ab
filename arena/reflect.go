package arena

import (
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/sanitize"
)

// NewOf returns a pointer, as a reflect.Value of type *t, to a zero value of
// type t in a, or on Go's heap if a is nil: reflect.New for arenas, for decoders
// that know their types at run time only. It costs a map look-up and what
// reflection costs, some 30 ns. It panics if t is nil, and as [New] does.
func NewOf(a *Arena, t reflect.Type) reflect.Value {
	if t == nil {
		panic("arena: NewOf(nil) on " + a.title())
	}
	if a == nil {
		return reflect.New(t)
	}
	if check.Enabled { // finds a copy at once
		a.checkUsable("NewOf")
	}
	l := a.dyn[t]
	if l == nil {
		a.checkUsable("NewOf")
		if a.dyn == nil {
			a.dyn = make(map[reflect.Type]*dynamicLane)
		}
		l = &dynamicLane{record: record{a: a}, typ: t, size: int(t.Size())}
		a.dyn[t] = l
		a.lanes = append(a.lanes, l)
	}
	return l.new()
}

// A dynamicLane is a plainer Lane: objects only, in chunks that are slices made
// by reflection, so that Go's garbage collector knows their type all the same.
//
//	chunks[:cur] are used up; of chunks[cur], left elements at the end are free;
//	chunks[cur+1:] are spare.
type dynamicLane struct {
	dynamicShadow
	record
	typ    reflect.Type
	size   int
	chunks []reflect.Value
	cur    int
	left   int
}

func (l *dynamicLane) new() reflect.Value {
	if l.left == 0 {
		l.grow()
	}
	if check.Enabled {
		defer l.begin().Exit()
	}
	c := l.chunks[l.cur]
	p := c.Index(c.Len() - l.left).Addr()
	if sanitize.Poisons {
		sanitize.Grant(p.UnsafePointer(), uintptr(l.size))
	}
	l.left--
	if check.Enabled {
		l.noteNew()
	}
	return p
}

// grow opens the next chunk, or adds one.
func (l *dynamicLane) grow() {
	next := l.cur + 1
	if !l.active {
		l.a.checkUsable("NewOf")
		next = 0
	}
	if next >= len(l.chunks) {
		n, err := l.a.chargeElems(l.nextLen(), 1, l.size)
		if err != nil {
			panic(err)
		}
		st := reflect.SliceOf(l.typ)
		c := reflect.New(st).Elem() // settable, for clearRange
		c.Set(reflect.MakeSlice(st, n, n))
		l.chunks = append(l.chunks, c)
	}
	l.cur = next
	l.left = l.chunks[next].Len()
	if sanitize.Poisons {
		sanitize.Withhold(l.chunks[next].UnsafePointer(), uintptr(l.left*l.size))
	}
	if !l.active { // only now, when there is a chunk
		l.active = true
		l.enlist(l)
	}
}

func (l *dynamicLane) nextLen() int {
	_, limit := l.a.chunkSizes()
	size := uintptr(l.size)
	if k := len(l.chunks); k > 0 {
		return chunk.NextElems(l.chunks[k-1].Len(), size, limit)
	}
	return max(l.firstLen(), chunk.Fill(l.peak.Want(), size))
}

// firstLen returns the length of a first chunk, which is never too large.
func (l *dynamicLane) firstLen() int {
	first, _ := l.a.chunkSizes()
	return chunk.Elems(first, uintptr(l.size))
}

func (l *dynamicLane) inUse() int {
	if !l.active {
		return 0
	}
	n := -l.left
	for _, c := range l.chunks[:l.cur+1] {
		n += c.Len()
	}
	return n
}

func (l *dynamicLane) usedBytes() int { return l.inUse() * l.size }

func (l *dynamicLane) rewind() (bytes int, listed bool) { return l.rewindTo(nil) }

func (l *dynamicLane) rewindTo(r *escape.Release) (bytes int, listed bool) {
	used := l.inUse()
	l.note(used)
	if check.Enabled && l.retireAll() {
		r = nil // they are watched when they leave the quarantine
	}
	if r != nil && l.active {
		l.surrender(r)
	}
	if k := len(l.chunks); k > 1 || k == 1 && (l.outgrown() || r != nil && l.active) {
		l.revoke()
		l.dropFrom(0)
		l.forget(l.a.retained())
	} else {
		l.release(position{})
	}
	l.cur, l.left, l.top = 0, 0, 0 // release noted a top
	l.active = false
	return used * l.size, l.listed
}

// outgrown reports whether the only chunk is too large to keep.
func (l *dynamicLane) outgrown() bool {
	n := l.chunks[0].Len()
	return l.peak.Outgrown(n) && n > l.firstLen()
}

func (l *dynamicLane) position() position {
	if !l.active {
		return position{}
	}
	return position{open: true, full: l.cur, lo: l.left}
}

// release clears what was handed out since p. A position without an open chunk
// is that of a lane at rest.
func (l *dynamicLane) release(p position) {
	if !l.active {
		return
	}
	l.top = max(l.top, l.inUse())
	if !p.open {
		p.lo = l.chunks[0].Len()
	}
	for l.cur > p.full {
		c := l.chunks[l.cur]
		clearRange(c, 0, c.Len()-l.left)
		if check.Enabled {
			l.retire(l.cur, c.Len()-l.left)
		}
		l.revokeRange(c, 0, c.Len()-l.left)
		l.cur, l.left = l.cur-1, 0
	}
	c := l.chunks[l.cur]
	clearRange(c, c.Len()-p.lo, c.Len()-l.left)
	if check.Enabled && p.lo == c.Len() {
		l.retire(l.cur, c.Len()-l.left)
	}
	l.revokeRange(c, c.Len()-p.lo, c.Len()-l.left)
	l.left = p.lo
	if check.Enabled {
		l.forgetFrom(l.inUse())
	}
	if !p.open {
		l.left, l.active = 0, false
	}
}

// clearRange clears c[from:to], without the slice header that Value.Slice would
// allocate.
func clearRange(c reflect.Value, from, to int) {
	if from == 0 {
		n := c.Len()
		c.SetLen(to)
		c.Clear()
		c.SetLen(n)
		return
	}
	for i := from; i < to; i++ {
		c.Index(i).SetZero()
	}
}

// dropFrom leaves the chunks from k on to the garbage collector.
func (l *dynamicLane) dropFrom(k int) {
	for i := k; i < len(l.chunks); i++ {
		l.a.credit(l.chunks[i].Len()*l.size, 1)
		l.chunks[i] = reflect.Value{}
	}
	l.chunks = l.chunks[:k]
}

// firstIdle returns the index of the first chunk that holds nothing.
func (l *dynamicLane) firstIdle() int {
	if l.active {
		return l.cur + 1
	}
	return 0
}

func (l *dynamicLane) idleBytes() int {
	n := 0
	for _, c := range l.chunks[min(l.firstIdle(), len(l.chunks)):] {
		n += c.Len() * l.size
	}
	return n
}

func (l *dynamicLane) dropIdle() {
	l.dropFrom(min(l.firstIdle(), len(l.chunks)))
}

func (l *dynamicLane) leave() {
	l.note(l.inUse())
	l.dropFrom(0)
	l.cur, l.left = 0, 0
	l.active, l.listed = false, false
}

func (l *dynamicLane) forget(most int) {
	if l.size > 0 {
		l.peak.Cap(most / l.size)
	}
}

func (l *dynamicLane) end() { *l = dynamicLane{record: record{a: l.a}, typ: l.typ, size: l.size} }

func (l *dynamicLane) stats() LaneStats {
	s := LaneStats{Type: fmt.Sprint(l.typ), Size: l.size, Count: l.inUse(), Chunks: len(l.chunks)}
	s.InUse, s.Idle = s.Count*l.size, l.idleBytes()
	if l.active {
		s.Idle += l.left * l.size
	}
	s.Reserved = s.InUse + s.Idle
	return s
}
