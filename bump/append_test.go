package bump_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

func data[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func TestAppendInPlace(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	s := bump.MakeSlice[int](&a, 0, 2)
	start := data(s)
	for i := range 30 {
		s = bump.Append(&a, s, i)
		bump.New[int](&a) // does not stand in the way
	}
	if data(s) != start || len(s) != 30 {
		t.Errorf("the latest slice moved, with room behind it")
	}
	for i, v := range s {
		if v != i {
			t.Fatalf("element %d is %d", i, v)
		}
	}
}

func TestAppendCopies(t *testing.T) {
	var a bump.Arena
	s := bump.Append(&a, []int(nil), 1, 2)
	bump.MakeSlice[int](&a, 1, 1)
	u := bump.Append(&a, s, 3)
	if data(u) == data(s) || !slices.Equal(u, []int{1, 2, 3}) || cap(u) != 4 || !a.Owns(data(u)) {
		t.Errorf("%v with capacity %d, want a copy of twice the capacity", u, cap(u))
	}
	// Spare capacity is used where it is the arena's.
	if v := bump.Append(&a, u, 4); data(v) != data(u) || !slices.Equal(v, []int{1, 2, 3, 4}) {
		t.Errorf("spare capacity was not used: %v", v)
	}
	if v := bump.Append(&a, u); data(v) != data(u) || len(v) != 3 {
		t.Error("appending nothing changed the slice")
	}
	if v := bump.Append(&a, []int(nil)); v != nil {
		t.Error("appending nothing to nil is not nil")
	}
}

func TestAppendToForeignSlice(t *testing.T) {
	var a, b bump.Arena
	heap := append(make([]int, 0, 8), 1, 2)
	other := append(bump.MakeSlice[int](&b, 0, 8), 1, 2)
	for _, s := range [][]int{heap, other} {
		u := bump.Append(&a, s, 3)
		if !a.Owns(data(u)) || !slices.Equal(u, []int{1, 2, 3}) {
			t.Errorf("got %v, the arena's %v", u, a.Owns(data(u)))
		}
		if !slices.Equal(s[:8], []int{1, 2, 0, 0, 0, 0, 0, 0}) {
			t.Errorf("the original became %v", s[:8])
		}
		if v := bump.Append(&a, s); data(v) != data(s) {
			t.Error("appending nothing copied")
		}
	}
}

// TestAppendToPartOfTheLatest is about slices that end before the latest
// allocation does, with a capacity that protects the rest.
func TestAppendToPartOfTheLatest(t *testing.T) {
	want := []int{1, 2, 3, 4, 5}
	for lo := 0; lo <= 5; lo++ {
		for hi := lo; hi < 5; hi++ {
			var a bump.Arena
			s := bump.Append(&a, []int(nil), want...)
			u := bump.Append(&a, s[lo:hi:hi], 9)
			if !slices.Equal(s, want) {
				t.Errorf("appending to s[%d:%d:%d] made s %v", lo, hi, hi, s)
			}
			if !slices.Equal(u, append(slices.Clone(want[lo:hi]), 9)) {
				t.Errorf("appending to s[%d:%d:%d] gave %v", lo, hi, hi, u)
			}
		}
	}
	// A tail that reaches the end may grow where it is.
	var a bump.Arena
	s := bump.Append(&a, []int(nil), want...)
	if u := bump.Append(&a, s[3:], 6); data(u) != unsafe.Pointer(&s[3]) || !slices.Equal(u, []int{4, 5, 6}) {
		t.Errorf("the tail moved: %v", u)
	}
}

// TestAppendToEmptySlices is about slices without capacity, which have the
// address of what was allocated after them.
func TestAppendToEmptySlices(t *testing.T) {
	var a bump.Arena
	empty := bump.MakeSlice[int](&a, 0, 0)
	also := bump.MakeSlice[int](&a, 0, 0)
	s := bump.Append(&a, empty, 1, 2, 3)
	u := bump.Append(&a, also, 7)
	v := bump.Append(&a, empty, 8)
	if !slices.Equal(s, []int{1, 2, 3}) || !slices.Equal(u, []int{7}) || !slices.Equal(v, []int{8}) {
		t.Errorf("three slices from empty ones: %v %v %v", s, u, v)
	}
}

func TestAppendToPartOfObject(t *testing.T) {
	var a bump.Arena
	arr := bump.NewFrom(&a, [4]int{1, 2, 3, 4})
	before := bump.NewFrom(&a, 5)
	u := bump.Append(&a, arr[:2], 9)
	if data(u) != unsafe.Pointer(arr) || *arr != [4]int{1, 2, 9, 4} {
		t.Errorf("spare capacity in an object was not used: %v", *arr)
	}
	u = bump.Append(&a, arr[:], 5)
	if data(u) == unsafe.Pointer(arr) || !slices.Equal(u, []int{1, 2, 9, 4, 5}) || *before != 5 {
		t.Errorf("appending to a full object gave %v", u)
	}
}

func TestAppendOfItself(t *testing.T) {
	var a bump.Arena
	s := bump.Append(&a, []int(nil), 1, 2, 3)
	want := []int{1, 2, 3}
	for range 8 { // over several chunks, in place and not
		s = bump.Append(&a, s, s...)
		want = append(want, want...)
		if !slices.Equal(s, want) {
			t.Fatalf("doubling gave %v", s)
		}
	}
}

// Values that lie where they are to be written to do not spoil each other.
func TestAppendOverItself(t *testing.T) {
	var a bump.Arena
	for from := range 7 {
		for n := range 7 {
			s := bump.Append(&a, bump.MakeSlice[int](&a, 0, 20), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
			want := append(slices.Clone(s[:4]), s[from:from+n]...)
			if got := bump.Append(&a, s[:4], s[from:from+n]...); !slices.Equal(got, want) {
				t.Errorf("s[:4] and s[%d:%d] are %v, want %v", from, from+n, got, want)
			}
		}
	}
}

// Push is Append of one value, in every state of the slice.
func TestPush(t *testing.T) {
	var a, b bump.Arena
	var s, u []int
	for i := range 5000 {
		s, u = bump.Push(&a, s, i), bump.Append(&b, u, i)
		if i%64 == 0 { // s and u are not the latest any more
			bump.MakeSlice[int](&a, 1, 1)
			bump.MakeSlice[int](&b, 1, 1)
		}
		if !slices.Equal(s, u) || cap(s) != cap(u) || s[i] != i {
			t.Fatalf("%d of %d, want %d of %d", len(s), cap(s), len(u), cap(u))
		}
	}
	if x, y := a.Stats(), b.Stats(); x != y {
		t.Errorf("%v, want %v", x, y)
	}
	heap := append(make([]int, 0, 8), 1, 2)
	if u := bump.Push(&a, heap, 3); !a.Owns(data(u)) || !slices.Equal(u, []int{1, 2, 3}) || heap[:3][2] != 0 {
		t.Errorf("a slice from elsewhere became %v, itself %v", u, heap[:3])
	}
	wantPanic(t, "too many", func() { bump.Push(&a, make([]struct{}, math.MaxInt), struct{}{}) },
		"bump: Push of 1 values to a slice of ", "overflows")
}

// A slice that grows one by one takes its room in doubles, in place.
func TestAppendDoublesInPlace(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	s := bump.MakeSlice[int](&a, 5, 5)
	first := data(s)
	for _, want := range []int{10, 10, 10, 10, 10, 20} {
		if s = bump.Push(&a, s, 1); cap(s) != want || data(s) != first {
			t.Errorf("%d values have a capacity of %d, want %d in place", len(s), cap(s), want)
		}
	}
	s = bump.MakeSlice[int](&a, 0, a.Stats().Idle/int(unsafe.Sizeof(0))-4)
	if u := bump.Append(&a, s[:cap(s)], 1, 2); data(u) != data(s) || cap(u) != cap(s)+2 {
		t.Errorf("room for four behind %d: a capacity of %d", cap(s), cap(u))
	}
}

func TestAppendOfEmptyValues(t *testing.T) {
	var a bump.Arena
	s := bump.Append(&a, []struct{}(nil), struct{}{})
	for range 9 {
		s = bump.Append(&a, s, struct{}{})
	}
	if len(s) != 10 {
		t.Errorf("length %d, want 10", len(s))
	}
	wantPanic(t, "too many", func() { bump.Append(&a, make([]struct{}, math.MaxInt), struct{}{}) },
		"bump: Append of 1 values to a slice of ", "overflows")
}
