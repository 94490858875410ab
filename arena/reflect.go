package arena

import (
	"reflect"

	"github.com/haven-mem/haven/internal/check"
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
	l := a.seldom().dyn[t]
	if l == nil {
		a.checkUsable("NewOf")
		l = newDynamic(a, t)
	}
	if l.i == l.lo {
		l.c.grow("NewOf")
	}
	l.c.advance(1)
	return l.buf.Index(l.lo - 1).Addr()
}

// A dynamic is the typed part of a lane whose type is known at run time only: its
// chunks are slices made by reflection, so that Go's garbage collector knows their type
// all the same. Objects go up from the start, like slices, as reflection clears that
// end in one step.
type dynamic struct {
	buf   reflect.Value // of the type []T, settable: the open chunk
	i, lo int
	c     lane
}

func newDynamic(a *Arena, t reflect.Type) *dynamic {
	l := &dynamic{buf: reflect.New(reflect.SliceOf(t)).Elem()}
	l.c.bind(a, l, t.Size())
	r := a.makeRare()
	if r.dyn == nil {
		r.dyn = make(map[reflect.Type]*dynamic)
	}
	r.dyn[t] = l
	l.c.next, a.lanes = a.lanes, &l.c
	return l
}

func (l *dynamic) do(o op, b block, lo, hi int) any {
	switch o {
	case opWipe:
		clearRange(l.buf, 0, l.lo)
		clearRange(l.buf, l.i, l.buf.Len())
		l.lo, l.i = 0, l.buf.Len()
	case opGrow:
		l.buf.Set(reflect.MakeSlice(l.buf.Type(), b.n, b.n))
	case opOpen:
		l.buf.SetZero()
		if b.n > 0 {
			l.buf.Set(reflect.ValueOf(b.mem))
		}
	case opChunk:
		return l.buf.Interface()
	case opClear:
		clearRange(l.buf, lo, hi)
	case opBase:
		if l.buf.Len() > 0 {
			return l.buf.Index(0).Addr().Interface()
		}
	}
	return nil
}

// clearRange clears s[from:to], from 0 on in one step and without the slice header that
// Value.Slice would allocate.
func clearRange(s reflect.Value, from, to int) {
	if from == 0 {
		n := s.Len()
		s.SetLen(to)
		s.Clear()
		s.SetLen(n)
		return
	}
	for i := from; i < to; i++ {
		s.Index(i).SetZero()
	}
}
