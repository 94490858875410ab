package arena_test

// The tests of this file ask of this package what the standard library's tests
// ask of Go's experimental arenas (package arena, user arenas in the runtime):
// smoke, large values, each of many shapes until chunks are exhausted, slices,
// values without size, liveness, scalars that look like pointers, and Clone.

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestStdSmoke(t *testing.T) {
	a := arena.NewArena()
	defer a.Free()
	type counter struct{ n int }
	c := arena.New[counter](a)
	c.n = 1
	s := arena.MakeSlice[counter](a, 99, 100)
	s[1].n = 42
	if len(s) != 99 || cap(s) != 100 || c.n != 1 || s[1].n != 42 || s[0].n != 0 {
		t.Errorf("length %d, capacity %d, %+v, %+v", len(s), cap(s), *c, s[:2])
	}
}

// Values of a mebibyte each, many more than a chunk holds.
func TestStdLarge(t *testing.T) {
	type mebibyte [1 << 20]byte
	a := arena.NewArena()
	defer a.Free()
	n := 640
	if testing.Short() || testing.CoverMode() != "" {
		n = 64
	}
	for i := range n {
		m := arena.New[mebibyte](a)
		if m[0] != 0 || m[len(m)-1] != 0 {
			t.Fatalf("value %d is not zero", i)
		}
		m[0], m[len(m)-1] = 1, 1
		if i%64 == 63 {
			a.Reset() // so that the test does not need 640 MiB
		}
	}
}

type scalar struct{ x uintptr }
type link struct{ next *link }
type mixed struct {
	a *link
	b byte
	c *link
	d [11]byte
}

// stdChunk is more than the largest chunk that growth makes.
const stdChunk = 1<<20 + 1<<19

func TestStdShapes(t *testing.T) {
	l := &link{new(link)}
	var even [1024]*link
	var odd [1023]*link
	fill(even[:], l)
	fill(odd[:], l)
	var evenBytes [8192]byte
	var oddBytes [3321]byte
	fill(evenBytes[:], 121)
	fill(oddBytes[:], 122)
	largeScalar, largePointer := new([stdChunk]byte), new([stdChunk/8 + 1]*link)
	fill(largeScalar[:], 123)
	fill(largePointer[:], l)

	stdValues(t, scalar{5})
	stdValues(t, *l)
	stdValues(t, mixed{l, 5, nil, [11]byte{0: 1, 10: 11}})
	stdValues(t, evenBytes)
	stdValues(t, oddBytes)
	stdValues(t, even)
	stdValues(t, odd)
	stdValues(t, *largeScalar)
	stdValues(t, *largePointer)
	stdSlices(t, slices.Repeat([]scalar{{12}}, 25))
	stdSlices(t, slices.Repeat([][1023]*link{odd}, 5))
	stdSlices(t, slices.Repeat([]link{*l}, stdChunk/8+1))
	stdValues(t, struct{}{})
	stdSlices(t, make([]struct{}, 10))
	stdSlices(t, []int{})
}

// stdValues allocates values until several chunks are full, at the same time in
// two arenas of two goroutines.
func stdValues[T comparable](t *testing.T, v T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		stdTwice(func() {
			a := arena.NewArena()
			var ps []*T
			for range stdChunk/(int(unsafe.Sizeof(v))+16) + 1 {
				p := arena.New[T](a)
				if *p != *new(T) {
					t.Error("not zero")
					return
				}
				*p = v
				ps = append(ps, p)
			}
			for i, p := range ps {
				if *p != v {
					t.Errorf("value %d of %d was changed", i, len(ps))
					return
				}
			}
			a.Free()
		})
	})
}

func stdSlices[T comparable](t *testing.T, v []T) {
	t.Run(fmt.Sprintf("%d_%v", len(v), reflect.TypeFor[T]()), func(t *testing.T) {
		stdTwice(func() {
			a := arena.NewArena()
			var ss [][]T
			for range stdChunk/(len(v)*int(unsafe.Sizeof(*new(T)))+64) + 1 {
				s := arena.MakeSlice[T](a, len(v), len(v))
				copy(s, v)
				ss = append(ss, s)
			}
			for i, s := range ss {
				if !slices.Equal(s, v) {
					t.Errorf("slice %d of %d was changed", i, len(ss))
					return
				}
			}
			a.Free()
		})
	})
}

func stdTwice(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	f()
	<-done
}

// A heap object behind an arena value lives as long as the arena does, and goes
// after Free, or when the arena is dropped.
func TestStdLiveness(t *testing.T) {
	for name, free := range map[string]bool{"Free": true, "dropped": false} {
		t.Run(name, func(t *testing.T) {
			var c testkit.Census
			a := arena.NewArena()
			for range 3 {
				arena.New[[1023]*link](a)
			}
			arena.New[mixed](a).c = testkit.Enroll(&c, &link{new(link)})
			testkit.CollectGarbage()
			if c.Alive() != 1 {
				t.Error("died while the arena is young")
			}
			for range stdChunk / 8192 {
				arena.New[[8192]byte](a)
			}
			testkit.CollectGarbage()
			if c.Alive() != 1 {
				t.Error("died after many more values")
			}
			if free {
				a.Free()
			}
			runtime.KeepAlive(a)
			a = nil
			testkit.CollectGarbage()
			if c.Alive() != 0 {
				t.Error("outlived the arena")
			}
		})
	}
}

// Scalars in memory that held pointers before are no pointers: they keep
// nothing.
func TestStdScalarsAreNoPointers(t *testing.T) {
	var c testkit.Census
	x := testkit.Enroll(&c, new([8 << 20]byte))
	word := uintptr(unsafe.Pointer(&x[124]))
	for round := range 3 {
		a := arena.NewArena()
		for range stdChunk / 8 * 3 {
			arena.New[link](a)
		}
		if round%2 == 0 {
			a.Free()
		} else {
			a.Reset()
		}
		testkit.CollectGarbage()
		b := arena.NewArena()
		for range stdChunk / 8 * 2 {
			*arena.New[scalar](b) = scalar{word}
			*arena.New[scalar](nil) = scalar{word}
		}
		if round == 2 {
			runtime.KeepAlive(x)
			x = nil
			testkit.CollectGarbage()
			if c.Alive() != 0 {
				t.Error("an object is kept by a number")
			}
		}
		runtime.KeepAlive(b)
	}
}

// Clone copies to the heap. Unlike the experimental package's it cannot tell
// what is on the heap already, and copies always.
func TestStdClone(t *testing.T) {
	a := arena.NewArena()
	const text = "abcdefghij"
	for name, s := range map[string]string{"arena": arena.String(a, text), "part": arena.String(a, text)[1:3], "static": text} {
		c := arena.Clone(s)
		if c != s || unsafe.StringData(c) == unsafe.StringData(s) {
			t.Errorf("%s: clone of %q is %q, same bytes: %t", name, s, c, unsafe.StringData(c) == unsafe.StringData(s))
		}
	}
	p := arena.NewFrom(a, scalar{7})
	b := arena.Append(a, []byte(nil), []byte(text)...)
	pc, bc, part := arena.Clone(p), arena.Clone(b), arena.Clone(b[1:3])
	if pc == p || &bc[0] == &b[0] || &part[0] == &b[1] {
		t.Error("no copy was made")
	}
	a.Reset()
	if pc.x != 7 || string(bc) != text || string(part) != text[1:3] {
		t.Errorf("%v %q %q after Reset", *pc, bc, part)
	}
	if !sanitize.Poisons && strings.Contains(string(b), text) {
		t.Errorf("the original is %q after Reset", b)
	}
	mustPanic(t, func() { arena.Clone(scalar{2}) })
}

// Values of types made by reflection, of every kind that has pointers.
func TestStdReflect(t *testing.T) {
	a := arena.NewArena()
	for _, typ := range []reflect.Type{
		reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int]()}, {Name: "B", Type: reflect.TypeFor[*int]()}}),
		reflect.ArrayOf(7, reflect.TypeFor[string]()),
		reflect.MapOf(reflect.TypeFor[int](), reflect.TypeFor[any]()),
		reflect.ChanOf(reflect.BothDir, reflect.TypeFor[int]()),
		reflect.SliceOf(reflect.TypeFor[error]()),
		reflect.FuncOf(nil, nil, false),
		reflect.PointerTo(reflect.TypeFor[mixed]()),
	} {
		for range 500 {
			v := arena.NewOf(a, typ)
			if v.Type().Elem() != typ || !v.Elem().IsZero() {
				t.Fatalf("%v: %v", typ, v.Elem())
			}
			if typ.Kind() == reflect.Struct {
				n := 5
				v.Elem().Field(1).Set(reflect.ValueOf(&n))
			}
		}
	}
	testkit.CollectGarbage()
	checkStats(t, a)
}
