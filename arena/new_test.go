package arena_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
)

// onEach runs f on every kind of arena: the nil one, the zero one, one with
// defaults, one that was used and reset, one from a pool, and one whose chunks
// are as small as can be.
func onEach(t *testing.T, f func(t *testing.T, a *arena.Arena)) {
	t.Helper()
	dirty := func(a *arena.Arena) *arena.Arena {
		fillDirty(a)
		return a
	}
	reset := dirty(arena.NewArena())
	reset.Reset()
	released := arena.NewArena()
	m := released.Mark()
	dirty(released).Release(m)
	var pool arena.Pool
	pool.Put(dirty(pool.Get()))
	for _, c := range []struct {
		name string
		a    *arena.Arena
	}{
		{"nil", nil},
		{"zero", new(arena.Arena)},
		{"new", arena.NewArena(arena.Config{Name: "new"})},
		{"after Reset", reset},
		{"after Release", released},
		{"from a Pool", pool.Get()},
		{"tiny chunks", arena.NewArena(arena.Config{FirstChunk: 1, MaxChunk: 1})},
		{"retaining nothing", arena.NewArena(arena.Config{Retain: -1})},
	} {
		t.Run(c.name, func(t *testing.T) { f(t, c.a) })
	}
}

// fillDirty leaves non-zero values of the types that the tests use in a.
func fillDirty(a *arena.Arena) {
	for i := range 2000 {
		*arena.New[int](a) = -1 - i
		*arena.New[string](a) = "dirt"
		*arena.New[*int](a) = new(int)
		*arena.New[any](a) = i
		*arena.New[node](a) = node{left: new(node), name: "dirt", key: i}
		arena.String(a, "dirt")
		arena.NewOf(a, reflect.TypeFor[node]()).Elem().Set(reflect.ValueOf(node{name: "dirt"}))
		s := arena.MakeSlice[node](a, 3, 5)
		s[2] = node{name: "dirt", key: 1}
		arena.Append(a, s, node{key: i})
	}
}

type node struct {
	left, right *node
	name        string
	key         int
}

func TestNewIsZero(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		for range 3000 {
			if p := arena.New[int](a); *p != 0 {
				t.Fatalf("New[int] holds %d", *p)
			}
			if p := arena.New[node](a); *p != (node{}) {
				t.Fatalf("New[node] holds %+v", *p)
			}
			if p := arena.New[any](a); *p != nil {
				t.Fatalf("New[any] holds %v", *p)
			}
			if p := arena.New[string](a); *p != "" {
				t.Fatalf("New[string] holds %q", *p)
			}
			if s := arena.MakeSlice[node](a, 0, 3); s[:3][2] != (node{}) {
				t.Fatalf("MakeSlice[node] holds %+v", s[:3])
			}
			if v := arena.NewOf(a, reflect.TypeFor[node]()); !v.Elem().IsZero() {
				t.Fatalf("NewOf(node) holds %v", v.Elem())
			}
		}
	})
}

func TestNewFrom(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		l := arena.LaneOf[node](a)
		for i := range 200 {
			if p := arena.NewFrom(a, node{key: i}); *p != (node{key: i}) {
				t.Fatalf("NewFrom: %+v", *p)
			}
			if p := l.NewFrom(node{key: i}); *p != (node{key: i}) {
				t.Fatalf("Lane.NewFrom: %+v", *p)
			}
		}
	})
}

func TestTry(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		for i := range 300 {
			p, err := arena.TryNew[node](a)
			if err != nil || *p != (node{}) {
				t.Fatalf("TryNew: %v, %v", p, err)
			}
			p.key = i
			s, err := arena.TryMakeSlice[node](a, i, i+3)
			if err != nil || len(s) != i || cap(s) != i+3 {
				t.Fatalf("TryMakeSlice: length %d of %d, %v", len(s), cap(s), err)
			}
			for _, v := range s[:cap(s)] {
				if v != (node{}) {
					t.Fatalf("TryMakeSlice holds %+v", v)
				}
			}
			fill(s, node{key: -1})
		}
	})
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// allTypes allocates values of T, objects and slices, and checks that each is
// zero, keeps what is stored in it, and shares memory with no other.
func allTypes[T any](t *testing.T, a *arena.Arena, value func(i int) T) {
	t.Helper()
	name := reflect.TypeFor[T]().String()
	size := reflect.TypeFor[T]().Size()
	n := int(max(20, min(500, 20000/(size+1))))
	var ps []*T
	var ss [][]T
	for i := range n {
		p := arena.New[T](a)
		if !reflect.ValueOf(p).Elem().IsZero() {
			t.Fatalf("New[%s] holds %v", name, *p)
		}
		*p = value(i)
		ps = append(ps, p)
		s := arena.MakeSlice[T](a, i%5, i%5+i%3)
		for j := range s {
			if !reflect.ValueOf(&s[j]).Elem().IsZero() {
				t.Fatalf("MakeSlice[%s] holds %v", name, s[j])
			}
			s[j] = value(i + j)
		}
		ss = append(ss, s)
	}
	same := func(got, want T) bool {
		if reflect.TypeFor[T]().Kind() == reflect.Func {
			return reflect.ValueOf(got).Call(nil)[0].Int() == reflect.ValueOf(want).Call(nil)[0].Int()
		}
		return reflect.DeepEqual(got, want)
	}
	for i := range n {
		if want := value(i); !same(*ps[i], want) {
			t.Fatalf("New[%s] %d: got %v, want %v", name, i, *ps[i], want)
		}
		for j, got := range ss[i] {
			if want := value(i + j); !same(got, want) {
				t.Fatalf("MakeSlice[%s] %d[%d]: got %v, want %v", name, i, j, got, want)
			}
		}
	}
}

func TestAnyType(t *testing.T) {
	chans := make([]chan int, 1000)
	for i := range chans {
		chans[i] = make(chan int, 1)
	}
	onEach(t, func(t *testing.T, a *arena.Arena) {
		allTypes(t, a, func(i int) bool { return i%2 == 0 })
		allTypes(t, a, func(i int) uint8 { return uint8(i) })
		allTypes(t, a, func(i int) uint16 { return uint16(i) })
		allTypes(t, a, func(i int) int64 { return int64(i) })
		allTypes(t, a, func(i int) float64 { return math.Sqrt(float64(i)) })
		allTypes(t, a, func(i int) complex128 { return complex(float64(i), 1) })
		allTypes(t, a, func(i int) string { return string(rune('a' + i%26)) })
		allTypes(t, a, func(i int) *int { return &i })
		allTypes(t, a, func(i int) []int { return []int{i, i + 1} })
		allTypes(t, a, func(i int) map[int]string { return map[int]string{i: "v"} })
		allTypes(t, a, func(i int) chan int { return chans[i] })
		allTypes(t, a, func(i int) func() int { return func() int { return i } })
		allTypes(t, a, func(i int) any { return []any{i, "x", nil, 1.5}[i%4] })
		allTypes(t, a, func(i int) error { return &arena.LimitError{Limit: i} })
		allTypes(t, a, func(int) struct{} { return struct{}{} })
		allTypes(t, a, func(int) [0]*int { return [0]*int{} })
		allTypes(t, a, func(i int) [3]byte { return [3]byte{byte(i), 2, 3} })
		allTypes(t, a, func(i int) [700]int { return [700]int{0: i, 699: -i} })
		allTypes(t, a, func(i int) [5000]*int { return [5000]*int{0: &i, 4999: &i} })
		allTypes(t, a, func(i int) node { return node{left: &node{key: i}, name: "n"} })
		allTypes(t, a, func(i int) struct {
			_ struct{}
			a int8
			b any
		} {
			return struct {
				_ struct{}
				a int8
				b any
			}{a: int8(i), b: i}
		})
	})
}

// A value larger than any chunk that growth asks for gets one of its own.
func TestLargerThanAChunk(t *testing.T) {
	type huge struct {
		data [3 << 20]byte
		next *huge
	}
	onEach(t, func(t *testing.T, a *arena.Arena) {
		var last *huge
		for i := range 5 {
			h := arena.New[huge](a)
			h.data[0], h.data[len(h.data)-1] = byte(i), byte(i)
			h.next, last = last, h
		}
		for i := 4; i >= 0; i-- {
			if last.data[0] != byte(i) || last.data[len(last.data)-1] != byte(i) {
				t.Fatalf("value %d holds %d", i, last.data[0])
			}
			last = last.next
		}
	})
}

// Many types in one arena, more than the table's first sizes hold, made by the
// compiler and by reflection.
func TestManyTypes(t *testing.T) {
	a := arena.NewArena()
	for i := range 300 {
		typ := reflect.ArrayOf(i, reflect.TypeFor[*int]())
		if v := arena.NewOf(a, typ); v.Type() != reflect.PointerTo(typ) || !v.Elem().IsZero() {
			t.Fatalf("NewOf(%v) returned a %v", typ, v.Type())
		}
	}
	p := manyTypes(a)
	for round := range 3 {
		q := manyTypes(a)
		for i := range q {
			if *q[i] != 0 || p[i] == q[i] {
				t.Fatalf("round %d: type %d holds %d", round, i, *q[i])
			}
			*q[i] = int32(i)
		}
	}
	if n := len(a.Stats().Lanes); n != 300+len(p) {
		t.Errorf("%d lanes, want %d", n, 300+len(p))
	}
}

type tagged[A any] struct{ v int32 }

// manyTypes allocates a value of each of 64 types of one size.
func manyTypes(a *arena.Arena) (ps []*int32) {
	ps = by8[[1]int](a, ps)
	ps = by8[[2]int](a, ps)
	ps = by8[[3]int](a, ps)
	ps = by8[[4]int](a, ps)
	ps = by8[string](a, ps)
	ps = by8[bool](a, ps)
	ps = by8[*int](a, ps)
	return by8[error](a, ps)
}

func by8[T any](a *arena.Arena, ps []*int32) []*int32 {
	return append(ps,
		&arena.New[tagged[T]](a).v,
		&arena.New[tagged[*T]](a).v,
		&arena.New[tagged[[]T]](a).v,
		&arena.New[tagged[map[int]T]](a).v,
		&arena.New[tagged[chan T]](a).v,
		&arena.New[tagged[func() T]](a).v,
		&arena.New[tagged[**T]](a).v,
		&arena.New[tagged[[][]T]](a).v,
	)
}
