package arena_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
)

// The model of an arena is a list of what was handed out and what each thing
// should hold. It knows nothing of chunks, lanes and cursors.

// A thing is a value, a slice or a string that the arena handed out.
type thing struct {
	elem   reflect.Type
	dyn    bool    // by NewOf
	start  uintptr // where it lies
	bytes  int     // up to its capacity
	count  int     // elements up to its capacity
	keep   any     // keeps it alive when the arena is gone
	ok     func() bool
	touch  func(x byte) // writes to it
	append func(x byte, n int)
}

type model struct {
	t      testing.TB
	a      *arena.Arena
	pool   *arena.Pool
	conf   arena.Config
	limit  int
	things []*thing
	orphan []*thing // of arenas that were freed: they hold what they held
	marks  []markModel
	resets uint64
	high   int
	due    int // callbacks registered
	ran    int // callbacks that should have run, less those that did
	step   int
	op     string
}

// A markModel is what the model was at a Mark.
type markModel struct {
	mark        arena.Mark
	things, due int
}

func newModel(t testing.TB, conf arena.Config) *model {
	onOneP(t)
	m := &model{t: t, conf: conf, pool: arena.NewPool(conf), a: arena.NewArena(conf)}
	m.limit = m.a.Stats().Limit
	return m
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("step %d, %s: %s\n%v", m.step, m.op, fmt.Sprintf(format, args...), m.a.Stats())
}

// allocate runs f and reports whether it did what it should: it may panic with
// a *LimitError if there is a limit, and then must have changed nothing.
func (m *model) allocate(f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if err, isErr := r.(error); !isErr || !errors.Is(err, arena.ErrLimit) || m.limit == 0 {
				panic(r)
			}
			ok = false
		}
	}()
	f()
	return true
}

// add enters what was handed out.
func (m *model) add(th *thing) {
	m.alone(th)
	m.things = append(m.things, th)
}

// alone fails the test if th shares a byte with anything that lives.
func (m *model) alone(th *thing) {
	for _, list := range [][]*thing{m.things, m.orphan} {
		for _, o := range list {
			if o != th && th.start < o.start+uintptr(o.bytes) && o.start < th.start+uintptr(th.bytes) {
				m.failf("%v at %#x+%d overlaps %v at %#x+%d", th.elem, th.start, th.bytes, o.elem, o.start, o.bytes)
			}
		}
	}
}

// check compares everything.
func (m *model) check() {
	for _, list := range [][]*thing{m.things, m.orphan} {
		for i, th := range list {
			if !th.ok() {
				m.failf("thing %d, %v of %d bytes, does not hold what was stored: %v", i, th.elem, th.bytes, th.keep)
			}
		}
	}
}

// checkStats compares the arena's numbers with the model's.
func (m *model) checkStats() {
	s := checkStats(m.t, m.a)
	inUse := 0
	count := map[string]int{}
	for _, th := range m.things {
		inUse += th.bytes
		count[th.elem.String()] += th.count
	}
	m.high = max(m.high, inUse)
	if s.InUse != inUse || s.HighWater != m.high || s.Resets != m.resets {
		m.failf("want %d bytes in use, high water %d, %d resets", inUse, m.high, m.resets)
	}
	for _, l := range s.Lanes {
		count[l.Type] -= l.Count
	}
	for typ, n := range count {
		if n != 0 {
			m.failf("%d more values of %s than the lane counts", n, typ)
		}
	}
	if m.ran != 0 {
		m.failf("callbacks that should run less those that did: %d", m.ran)
	}
}

// endScope drops the things and callbacks from the given numbers on.
func (m *model) endScope(things, due int) {
	clear(m.things[things:])
	m.things = m.things[:things]
	m.ran += m.due - due
	m.due = due
}

// A cell is a type T that programs use: how to make the x-th value of it, and
// whether two are the same.
type cell[T any] struct {
	make func(x byte) T
	same func(a, b T) bool
}

func isZero[T any](p *T) bool { return reflect.ValueOf(p).Elem().IsZero() }

// value allocates a T in one of the ways there are.
func (c cell[T]) value(m *model, x byte) {
	var p *T
	dyn := x%5 == 4
	if !m.allocate(func() {
		switch x % 5 {
		case 0, 1:
			p = arena.New[T](m.a)
		case 2:
			p = arena.LaneOf[T](m.a).New()
		case 3:
			q, err := arena.TryNew[T](m.a)
			if err != nil {
				panic(err)
			}
			p = q
		case 4:
			p = arena.NewOf(m.a, reflect.TypeFor[T]()).Interface().(*T)
		}
	}) {
		return
	}
	if !isZero(p) {
		m.failf("handed out %v", *p)
	}
	th := &thing{elem: reflect.TypeFor[T](), dyn: dyn, start: uintptr(unsafe.Pointer(p)), bytes: int(unsafe.Sizeof(*p)), count: 1, keep: p}
	want := x
	th.touch = func(x byte) { *p, want = c.make(x), x }
	th.ok = func() bool { return c.same(*p, c.make(want)) }
	m.add(th)
	th.touch(x)
}

// slice makes a slice of T.
func (c cell[T]) slice(m *model, x byte, n, spare int) {
	var s []T
	if !m.allocate(func() {
		var err error
		switch x % 3 {
		case 0:
			s, err = arena.TryMakeSlice[T](m.a, n, n+spare)
		case 1:
			s = arena.LaneOf[T](m.a).MakeSlice(n, n+spare)
		case 2:
			s = arena.MakeSlice[T](m.a, n, n+spare)
		}
		if err != nil {
			panic(err)
		}
	}) {
		return
	}
	if s == nil || len(s) != n || cap(s) != n+spare {
		m.failf("length %d and capacity %d, want %d and %d", len(s), cap(s), n, n+spare)
	}
	for i := range s[:cap(s)] {
		if !isZero(&s[:cap(s)][i]) {
			m.failf("handed out a slice with %v at %d", s[:cap(s)][i], i)
		}
	}
	th := new(thing)
	c.describe(m, th, s, make([]byte, n))
	th.touch(x)
	m.add(th)
}

// describe makes th describe s, whose values are made from the bytes of want.
func (c cell[T]) describe(m *model, th *thing, s []T, want []byte) {
	th.elem = reflect.TypeFor[T]()
	th.start = uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	th.bytes = cap(s) * int(th.elem.Size())
	th.count, th.keep = cap(s), s
	th.touch = func(x byte) {
		for i := range s {
			want[i] = x + byte(i)
			s[i] = c.make(want[i])
		}
	}
	th.ok = func() bool {
		for i := range s {
			if !c.same(s[i], c.make(want[i])) {
				return false
			}
		}
		return true
	}
	th.append = func(x byte, n int) { c.grow(m, th, s, want, x, n) }
}

// grow appends n values to s, which th describes.
func (c cell[T]) grow(m *model, th *thing, s []T, want []byte, x byte, n int) {
	vs := make([]T, n)
	want = want[:len(want):len(want)]
	for i := range vs {
		vs[i] = c.make(x + byte(i))
		want = append(want, x+byte(i))
	}
	var grown []T
	if !m.allocate(func() {
		if n == 1 {
			grown = arena.Push(m.a, s, vs[0])
		} else {
			grown = arena.Append(m.a, s, vs...)
		}
	}) {
		return
	}
	if len(grown) != len(want) {
		m.failf("Append of %d to %d has length %d", n, len(s), len(grown))
	}
	if n == 0 {
		return
	}
	inPlace := th.elem.Size() > 0 && cap(s) > 0 && unsafe.SliceData(grown) == unsafe.SliceData(s)
	if len(want) <= cap(s) && th.elem.Size() > 0 && (!inPlace || cap(grown) != cap(s)) {
		m.failf("Append to a slice with room for it: capacity %d became %d, in place: %t", cap(s), cap(grown), inPlace)
	}
	switch {
	case !inPlace: // s keeps what it holds
		moved := new(thing)
		c.describe(m, moved, grown, want)
		m.add(moved)
	case cap(grown) == cap(s) || m.inScope(th):
		c.describe(m, th, grown, want)
		m.alone(th)
	default:
		// It was made before the open Mark: what it gained goes with the scope.
		k := cap(s)
		c.describe(m, th, grown[:k:k], want[:k:k])
		tail := new(thing)
		c.describe(m, tail, grown[k:], want[k:])
		m.add(tail)
	}
}

// inScope reports whether th was handed out since the innermost open Mark.
func (m *model) inScope(th *thing) bool {
	if len(m.marks) == 0 {
		return true
	}
	for _, o := range m.things[m.marks[len(m.marks)-1].things:] {
		if o == th {
			return true
		}
	}
	return false
}

// reset resets the lane of T alone.
func (c cell[T]) reset(m *model) {
	if len(m.marks) > 0 {
		return
	}
	arena.LaneOf[T](m.a).Reset()
	kept := m.things[:0]
	for _, th := range m.things {
		if th.dyn || th.elem != reflect.TypeFor[T]() {
			kept = append(kept, th)
		}
	}
	clear(m.things[len(kept):])
	m.things = kept
}

// str makes a string.
func (m *model) str(x byte, n int) {
	b := make([]byte, n)
	for i := range b {
		b[i] = x + byte(i)
	}
	var s string
	if !m.allocate(func() { s = arena.String(m.a, b) }) {
		return
	}
	want := string(b)
	clear(b)
	m.add(&thing{
		elem: reflect.TypeFor[byte](), start: uintptr(unsafe.Pointer(unsafe.StringData(s))), bytes: n, count: n, keep: s,
		ok:     func() bool { return s == want },
		touch:  func(byte) {},
		append: func(byte, int) {},
	})
}
