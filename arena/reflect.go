package arena

import (
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/internal/chunk"
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
	if a.dyn == nil {
		a.checkUsable("NewOf")
		a.dyn = &dynamic{lanes: make(map[reflect.Type]*dynamicLane)}
	}
	l := a.dyn.lanes[t]
	if l == nil {
		l = &dynamicLane{a: a, typ: t, size: int(t.Size())}
		a.dyn.lanes[t] = l
		a.lanes = append(a.lanes, l)
	}
	return l.new()
}

// dynamic holds the lanes of types known at run time only. They are not in the
// table, which is for types that the compiler knows.
type dynamic struct {
	lanes map[reflect.Type]*dynamicLane
}

// A dynamicLane is a plainer Lane: objects only, in chunks that are slices made
// by reflection, so that Go's garbage collector knows their type all the same.
//
//	chunks[:cur] are used up; of chunks[cur], left elements at the front are
//	free; chunks[cur+1:] are spare.
type dynamicLane struct {
	a      *Arena
	typ    reflect.Type
	size   int
	chunks []reflect.Value
	cur    int
	left   int
	peak   chunk.Peak
	top    int
	last   uint64
	active bool
}

func (l *dynamicLane) new() reflect.Value {
	if l.left == 0 {
		l.grow()
	}
	l.left--
	return l.chunks[l.cur].Index(l.left).Addr()
}

// grow opens the next chunk, or adds one.
func (l *dynamicLane) grow() {
	next := l.cur + 1
	if !l.active {
		l.a.checkUsable("NewOf")
		l.a.active = append(l.a.active, l)
		l.active = true
		next = 0
	}
	if next >= len(l.chunks) {
		n := l.nextLen()
		if err := l.a.charge(n*l.size, l.size); err != nil {
			if n = l.a.room() / max(l.size, 1); n < 1 || l.a.charge(n*l.size, l.size) != nil {
				panic(err)
			}
		}
		// The charge may have dropped spare chunks.
		l.chunks = append(l.chunks[:next], reflect.MakeSlice(reflect.SliceOf(l.typ), n, n))
	}
	l.cur = next
	l.left = l.chunks[next].Len()
}

func (l *dynamicLane) nextLen() int {
	first, limit := l.a.chunkSizes()
	size := uintptr(l.size)
	if k := len(l.chunks); k > 0 {
		return chunk.Elems(chunk.Next(uintptr(l.chunks[k-1].Len())*size, limit), size)
	}
	return max(chunk.Elems(first, size), chunk.Fill(l.peak.Want(), size))
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

func (l *dynamicLane) rewind() int {
	used := l.inUse()
	l.peak.Note(max(l.top, used))
	l.release(position{})
	l.top = 0
	if len(l.chunks) > 1 || l.peak.Outgrown(l.chunks[0].Len()) {
		l.dropFrom(0)
	}
	l.left, l.active = 0, false
	l.last = l.a.resets
	return used * l.size
}

func (l *dynamicLane) position() position {
	return position{open: true, full: l.cur, lo: l.left}
}

// release clears what was handed out since p. A position without an open chunk
// is that of a lane at rest.
func (l *dynamicLane) release(p position) {
	l.top = max(l.top, l.inUse())
	if !p.open {
		p.lo = l.chunks[0].Len()
	}
	for l.cur > p.full {
		c := l.chunks[l.cur]
		c.Slice(l.left, c.Len()).Clear()
		l.cur, l.left = l.cur-1, 0
	}
	l.chunks[l.cur].Slice(l.left, p.lo).Clear()
	l.left = p.lo
}

func (l *dynamicLane) releaseAll() {
	l.release(position{})
	l.left, l.active = 0, false
}

// dropFrom leaves the chunks from k on to the garbage collector.
func (l *dynamicLane) dropFrom(k int) {
	for i := k; i < len(l.chunks); i++ {
		l.a.credit(l.chunks[i].Len() * l.size)
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

func (l *dynamicLane) dropIdle(most int) {
	l.dropFrom(min(l.firstIdle(), len(l.chunks)))
	if l.size > 0 {
		l.peak.Cap(most / l.size)
	}
}

func (l *dynamicLane) idleSince() uint64 {
	if l.active {
		return l.a.resets
	}
	return l.last
}

func (l *dynamicLane) end() { *l = dynamicLane{a: l.a, typ: l.typ, size: l.size} }

func (l *dynamicLane) stats() LaneStats {
	s := LaneStats{Type: fmt.Sprint(l.typ), Size: l.size, Count: l.inUse(), Chunks: len(l.chunks)}
	s.InUse, s.Idle = s.Count*l.size, l.idleBytes()
	if l.active {
		s.Idle += l.left * l.size
	}
	s.Reserved = s.InUse + s.Idle
	return s
}
