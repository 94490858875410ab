package arena_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
)

func TestMakeSlice(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		l := arena.LaneOf[int](a)
		for _, c := range [][2]int{{0, 0}, {0, 1}, {1, 1}, {3, 8}, {0, 63}, {64, 64}, {65, 65}, {500, 1000}, {0, 300000}, {7, 7}} {
			for _, s := range [][]int{arena.MakeSlice[int](a, c[0], c[1]), l.MakeSlice(c[0], c[1])} {
				if s == nil || len(s) != c[0] || cap(s) != c[1] {
					t.Fatalf("MakeSlice(%d, %d): nil %t, length %d, capacity %d", c[0], c[1], s == nil, len(s), cap(s))
				}
				for i, v := range s[:cap(s)] {
					if v != 0 {
						t.Fatalf("MakeSlice(%d, %d)[%d] is %d", c[0], c[1], i, v)
					}
				}
				fill(s[:cap(s)], -1)
			}
		}
	})
}

// An empty slice is not nil, whatever the state of its lane.
func TestMakeSliceEmpty(t *testing.T) {
	a := arena.NewArena()
	for i := range 4 {
		if arena.MakeSlice[int](a, 0, 0) == nil {
			t.Errorf("nil slice after %d values", i)
		}
		arena.New[int](a)
		if i == 2 {
			a.Reset()
		}
	}
	if n := laneStats[int](t, a).Count; n != 1 {
		t.Errorf("empty slices count as %d values", n-1)
	}
}

func TestAppend(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		var s, want []int
		for i := range 3000 {
			s = arena.Append(a, s, i)
			want = append(want, i)
			if i%7 == 0 { // something else comes between
				*arena.New[int](a) = -1
			}
			if i%31 == 0 {
				fill(arena.MakeSlice[int](a, 2, 2), -2)
			}
		}
		s = arena.Append(a, s, s...)
		want = append(want, want...)
		if !slices.Equal(s, want) {
			t.Fatal("contents differ from the built-in append's")
		}
		if got := arena.Append(a, s); len(got) != len(s) || &got[0] != &s[0] {
			t.Error("Append of nothing changed the slice")
		}
		if got := arena.Append[int](a, nil); got != nil {
			t.Error("Append of nothing to nil is not nil")
		}
		if got := arena.Append(a, []struct{}{{}}, struct{}{}, struct{}{}); len(got) != 3 {
			t.Errorf("Append of zero-size values: length %d", len(got))
		}
	})
}

// Append grows the last slice of the lane where it is.
func TestAppendInPlace(t *testing.T) {
	a := arena.NewArena(arena.Config{FirstChunk: 1 << 16})
	s := arena.Append(a, []int(nil), 1)
	first := &s[0]
	for i := range 1000 {
		s = arena.Append(a, s, i)
	}
	*arena.New[int](a) = -1 // comes from the other end
	s = arena.Append(a, s, 5, 6, 7)
	if &s[0] != first || len(s) != 1004 {
		t.Error("the last slice moved")
	}
	if n := laneStats[int](t, a).Count; n != cap(s)+1 {
		t.Errorf("%d values in use, want the %d of the slice and one", n, cap(s))
	}
	other := arena.MakeSlice[int](a, 1, 1)
	grown := arena.Append(a, s[:cap(s)], 8)
	if &grown[0] == first {
		t.Error("a slice that is not the last grew in place")
	}
	if cap(grown) < 2*cap(s) {
		t.Errorf("capacity went from %d to %d, want it doubled", cap(s), cap(grown))
	}
	if other[0] != 0 {
		t.Error("Append wrote over the slice behind")
	}
	if n := laneStats[int](t, a).Count; n != cap(s)+cap(grown)+2 {
		t.Errorf("%d values in use: the copy is not in the arena", n)
	}
}

// A sub-slice that ends where the lane's slices end grows in place too; one that
// does not, does not.
func TestAppendSubslice(t *testing.T) {
	a := arena.NewArena()
	s := arena.MakeSlice[int](a, 4, 4)
	tail := arena.Append(a, s[2:], 9)
	if &tail[0] != &s[2] || tail[2] != 9 {
		t.Error("the tail moved")
	}
	head := arena.Append(a, s[:2:2], 5)
	if &head[0] == &s[0] || s[2] != 0 {
		t.Error("Append overran the capacity of a sub-slice")
	}
	within := arena.Append(a, s[:1], 6)
	if &within[0] != &s[0] || s[1] != 6 {
		t.Error("Append did not use the spare capacity of the arena's own slice")
	}
}

// A slice with room is appended to where it is, wherever in the arena that may
// be: in the open chunk, in one left behind, or in one of its own.
func TestAppendWithRoom(t *testing.T) {
	a := arena.NewArena()
	var all [][]int
	for i := range 50 {
		all = append(all, arena.MakeSlice[int](a, 1, 10+100*i))
		for range 10 {
			arena.New[int](a)
		}
	}
	in := checkStats(t, a).InUse
	for i, s := range all {
		if got := arena.Append(a, s, 7, 8); &got[0] != &s[0] || cap(got) != cap(s) || s[:3][2] != 8 {
			t.Errorf("slice %d with a capacity of %d was copied", i, cap(s))
		}
	}
	if s := checkStats(t, a); s.InUse != in {
		t.Errorf("%d bytes in use, %d before", s.InUse, in)
	}
}

// A slice from elsewhere is copied, and its spare capacity is left alone.
func TestAppendForeign(t *testing.T) {
	a, b := arena.NewArena(), arena.NewArena()
	heap := make([]int, 2, 10)
	mine := arena.MakeSlice[int](b, 2, 10)
	var alone arena.Lane[int]
	for name, s := range map[string][]int{"heap": heap, "another arena": mine, "a lane": alone.MakeSlice(2, 10)} {
		got := arena.Append(a, s, 1, 2)
		if !slices.Equal(got, []int{0, 0, 1, 2}) || &got[0] == &s[0] {
			t.Errorf("%s: got %v", name, got)
		}
		if s[:4][2] != 0 {
			t.Errorf("%s: the original's spare capacity was written to", name)
		}
		got[0] = 7
		if s[0] != 0 {
			t.Errorf("%s: shares memory with the original", name)
		}
	}
}

// The values to append may lie in the arena, in the slice itself too.
func TestAppendOverlap(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		s := arena.Append(a, []int(nil), 1, 2, 3)
		for range 8 {
			want := append(slices.Clone(s), s[1:]...)
			if s = arena.Append(a, s, s[1:]...); !slices.Equal(s, want) {
				t.Fatalf("got %v, want %v", s, want)
			}
		}
	})
}

// Nor do values that lie where they are to be written to spoil each other.
func TestAppendOverItself(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		for from := range 7 {
			for n := range 7 {
				s := arena.Append(a, arena.MakeSlice[int](a, 0, 20), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
				want := append(slices.Clone(s[:4]), s[from:from+n]...)
				if got := arena.Append(a, s[:4], s[from:from+n]...); !slices.Equal(got, want) {
					t.Errorf("s[:4] and s[%d:%d] are %v, want %v", from, from+n, got, want)
				}
			}
		}
	})
}

// Push is Append of one value, in every state of the slice.
func TestPush(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		checkPush(t, a, 7)
		checkPush(t, a, node{key: 7})
		checkPush(t, a, struct{}{})
	})
}

func checkPush[T comparable](t *testing.T, a *arena.Arena, v T) {
	t.Helper()
	var alone arena.Lane[T]
	for name, f := range map[string]struct {
		push func(s []T, v T) []T
		more func(s []T, vs ...T) []T
		make func(n, c int) []T
	}{
		"arena": {
			func(s []T, v T) []T { return arena.Push(a, s, v) },
			func(s []T, vs ...T) []T { return arena.Append(a, s, vs...) },
			func(n, c int) []T { return arena.MakeSlice[T](a, n, c) },
		},
		"lane": {arena.LaneOf[T](a).Push, arena.LaneOf[T](a).Append, arena.LaneOf[T](a).MakeSlice},
		"own":  {alone.Push, alone.Append, alone.MakeSlice},
	} {
		for _, c := range []struct{ length, capacity int }{{0, 0}, {0, 1}, {1, 1}, {3, 8}, {500, 500}} {
			for _, behind := range []int{0, 1} { // values behind the slice
				s := f.make(c.length, c.capacity)
				f.make(behind, behind)
				got := f.push(s, v)
				like := f.make(c.length, c.capacity)
				f.make(behind, behind)
				if want := f.more(like, v); !slices.Equal(got, want) || len(got) != c.length+1 {
					t.Fatalf("%s: Push to %d of %d: %v, want %v", name, c.length, c.capacity, got, want)
				}
				if c.length < c.capacity && &got[0] != &s[:1][0] {
					t.Errorf("%s: Push to %d of %d moved", name, c.length, c.capacity)
				}
			}
		}
		heap := make([]T, 1, 4)
		s := f.push(heap, v)
		if len(s) != 2 || s[1] != v || a != nil && heap[:2][1] != *new(T) {
			t.Errorf("%s: Push to a slice from elsewhere: %v, of %v", name, s, heap[:2])
		}
		var list []T
		for range 1000 {
			list = f.push(list, v)
		}
		if len(list) != 1000 || slices.ContainsFunc(list, func(x T) bool { return x != v }) {
			t.Errorf("%s: a list of %d", name, len(list))
		}
	}
}

// A list that is pushed takes the memory of one that is appended to.
func TestPushGrows(t *testing.T) {
	a, b := arena.NewArena(), arena.NewArena()
	var s, u []int
	for i := range 5000 {
		s, u = arena.Push(a, s, i), arena.Append(b, u, i)
		if len(s) != len(u) || cap(s) != cap(u) || s[i] != i {
			t.Fatalf("%d of %d, want %d of %d", len(s), cap(s), len(u), cap(u))
		}
	}
	if x, y := a.Stats(), b.Stats(); x.InUse != y.InUse || x.Reserved != y.Reserved {
		t.Errorf("%v, want %v", x, y)
	}
}

type label string

func TestString(t *testing.T) {
	onEach(t, func(t *testing.T, a *arena.Arena) {
		b := []byte("from bytes")
		got := arena.String(a, b)
		b[0] = 'X'
		if got != "from bytes" {
			t.Errorf("String shares the bytes of its argument: %q", got)
		}
		if got := arena.String(a, label("named")); got != "named" {
			t.Errorf("String of a named string: %q", got)
		}
		if arena.String(a, "") != "" || arena.String(a, []byte(nil)) != "" {
			t.Error("String of nothing is not empty")
		}
		var all []string
		for i := range 2000 {
			all = append(all, arena.String(a, fmt.Sprint("text ", i)))
		}
		long := strings.Repeat("long", 1<<18)
		all = append(all, arena.String(a, long))
		for i, s := range all[:2000] {
			if s != fmt.Sprint("text ", i) {
				t.Fatalf("string %d is %q", i, s)
			}
		}
		if all[2000] != long {
			t.Error("long string differs")
		}
	})
	a := arena.NewArena()
	s := "shared"
	if unsafe.StringData(arena.String(a, s)) == unsafe.StringData(s) {
		t.Error("String made no copy")
	}
	if n := laneStats[byte](t, a).Count; n != len(s) {
		t.Errorf("%d bytes in use, want %d", n, len(s))
	}
}

func TestClone(t *testing.T) {
	a := arena.NewArena(arena.Config{FirstChunk: 512}) // which Reset keeps and clears
	n := arena.NewFrom(a, node{name: arena.String(a, "leaf"), key: 1})
	c := arena.Clone(n)
	named := arena.Clone(label(arena.String(a, "label")))
	s := arena.Clone(arena.Append(a, []int(nil), 1, 2, 3))
	type nodes []*node
	ns := arena.Clone(nodes{n, nil})
	str := arena.Clone(arena.String(a, "text"))
	type ref *node
	r := arena.Clone(ref(n))
	boxed := arena.Clone[any](n)

	name := strings.Clone(n.name)
	a.Reset() // what is not a clone reads as zero from here on
	if c == n || c.key != 1 {
		t.Errorf("pointer: %+v", c)
	}
	if name != "leaf" || c.name == "leaf" {
		t.Error("Clone copied what the value points to")
	}
	if named != "label" || str != "text" {
		t.Errorf("strings: %q, %q", named, str)
	}
	if !slices.Equal(s, []int{1, 2, 3}) || cap(s) != 3 {
		t.Errorf("slice: %v of capacity %d", s, cap(s))
	}
	if len(ns) != 2 || ns[0] != n || ns[1] != nil {
		t.Errorf("named slice: %v", ns)
	}
	if r == ref(n) || r.key != 1 || boxed == any(n) || boxed.(*node).key != 1 {
		t.Error("named pointer or pointer in an interface")
	}
	if arena.Clone[*int](nil) != nil || arena.Clone[[]int](nil) != nil || arena.Clone("") != "" {
		t.Error("nil or empty values")
	}
	if s := arena.Clone([]int{}); s == nil || len(s) != 0 {
		t.Errorf("empty slice: %v", s)
	}
}

// Lengths of zero-size values have no bound but int's.
func TestZeroSizeLengths(t *testing.T) {
	a := arena.NewArena(arena.Config{Limit: 1})
	for range 3 {
		if s := arena.MakeSlice[struct{}](a, math.MaxInt, math.MaxInt); len(s) != math.MaxInt {
			t.Errorf("length %d", len(s))
		}
		arena.New[struct{}](a)
		checkZero := a.Stats()
		if checkZero.InUse != 0 || checkZero.Reserved != 0 {
			t.Errorf("values without size use %d of %d bytes", checkZero.InUse, checkZero.Reserved)
		}
		a.Reset()
	}
}

// TryAppend and TryString do what Append and String do where there is room.
func TestTryAppendString(t *testing.T) {
	for _, a := range []*arena.Arena{nil, arena.NewArena(arena.Config{Limit: 1 << 20})} {
		var s []int
		for i := range 100 {
			var err error
			if s, err = arena.TryAppend(a, s, i, -i); err != nil || len(s) != 2*i+2 || s[2*i] != i || s[2*i+1] != -i {
				t.Fatalf("%v, %v", s, err)
			}
		}
		if text, err := arena.TryString(a, []byte("text")); text != "text" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if text, err := arena.TryString(a, ""); text != "" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
}
