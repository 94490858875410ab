package addr_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
)

func TestTypeWord(t *testing.T) {
	type mine int
	type alias = int
	one, two := 1, 2
	values := []any{one, int8(1), uint(1), mine(1), &one, new(mine), "", []int(nil), [3]int{}, [4]int{}, struct{}{},
		map[string]int(nil), func() {}, error(nil), any(nil), (*error)(nil), (*any)(nil)}
	words := map[uintptr]reflect.Type{}
	for _, v := range values {
		w, typ := addr.TypeWord(v), reflect.TypeOf(v)
		if (w == 0) != (typ == nil) {
			t.Errorf("the word of %v is %#x", typ, w)
		}
		if other, ok := words[w]; ok && other != typ {
			t.Errorf("%v and %v have the same word", typ, other)
		}
		words[w] = typ
	}
	if addr.TypeWord(one) != addr.TypeWord(alias(two)) || addr.TypeWord(&one) != addr.TypeWord(&two) {
		t.Error("values of one type have different words")
	}
}

// checkWithin compares Within with what indices say.
func checkWithin[T any](t *testing.T) {
	t.Helper()
	all := make([]T, 30)
	chunk := all[10:20:20]
	for lo := range all {
		for hi := lo; hi <= len(all); hi++ {
			want := lo >= 10 && hi <= 20 && hi > lo
			if got := addr.Within(all[lo:hi:hi], chunk); got != want {
				t.Errorf("%T: Within([%d:%d], [10:20]) is %v", all[:0], lo, hi, got)
			}
		}
	}
	// What counts is the capacity of the one and the length of the other.
	if addr.Within(all[12:13:21], chunk) || !addr.Within(all[12:12:14], chunk) {
		t.Errorf("%T: the capacity is not what counts", all[:0])
	}
	if addr.Within(all[11:12:12], all[10:11:20]) {
		t.Errorf("%T: a chunk reaches to its capacity", all[:0])
	}
	if addr.Within(make([]T, 1), chunk) || addr.Within(nil, chunk) || addr.Within(chunk, nil) || addr.Within[T](nil, nil) {
		t.Errorf("%T: foreign or nil slices lie within", all[:0])
	}
	var local [3]T
	if addr.Within(local[:], chunk) {
		t.Errorf("%T: a local array lies within", all[:0])
	}
}

// checkBegins compares Begins with what indices say.
func checkBegins[T any](t *testing.T) {
	t.Helper()
	all := make([]T, 30)
	for lo := range all {
		for hi := lo; hi <= len(all); hi++ {
			if got, want := addr.Begins(all[lo:hi], all[10:20]), lo >= 10 && lo < 20; got != want {
				t.Errorf("%T: Begins([%d:%d], [10:20]) is %v", all[:0], lo, hi, got)
			}
		}
	}
	if addr.Begins(make([]T, 1), all) || addr.Begins(nil, all) || addr.Begins(all, nil) || addr.Begins[T](nil, nil) {
		t.Errorf("%T: foreign or nil slices begin within", all[:0])
	}
}

func TestBegins(t *testing.T) {
	checkBegins[byte](t)
	checkBegins[string](t)
	checkBegins[[7]uint16](t)
	if s := make([]struct{}, 5); addr.Begins(s[1:], s) {
		t.Error("values without size begin somewhere")
	}
}

func TestWithin(t *testing.T) {
	checkWithin[byte](t)
	checkWithin[string](t)
	checkWithin[[7]uint16](t)
	checkWithin[*int](t)
	if s := make([]struct{}, 5); addr.Within(s[1:2], s) {
		t.Error("values without size lie somewhere")
	}
}

// checkHolds compares Holds with what indices say.
func checkHolds[T any](t *testing.T) {
	t.Helper()
	all := make([]T, 30)
	chunk := all[10:20]
	size := int(unsafe.Sizeof(all[0]))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), 30*size)
	for i := range b {
		if got, want := addr.Holds(chunk, addr.String(b[i:i+1])), i >= 10*size && i < 20*size; got != want {
			t.Errorf("%T: Holds([10:20], byte %d) is %v", all[:0], i, got)
		}
	}
	if addr.Holds(chunk, "") || addr.Holds(chunk, addr.String(b[12*size:])[:0]) || addr.Holds[T](nil, "text") || addr.Holds(chunk, "text") {
		t.Errorf("%T: an empty or foreign text lies within", all[:0])
	}
}

func TestHolds(t *testing.T) {
	checkHolds[byte](t)
	checkHolds[string](t)
	checkHolds[[7]uint16](t)
	if addr.Holds(make([]struct{}, 5), "text") {
		t.Error("values without size hold a text")
	}
}

func TestString(t *testing.T) {
	b := []byte("some text")
	s := addr.String(b[5:])
	if s != "text" {
		t.Errorf("got %q", s)
	}
	b[5] = 'n'
	if s != "next" {
		t.Errorf("does not share the bytes: %q", s)
	}
	if addr.String(nil) != "" || addr.String(b[:0]) != "" {
		t.Error("an empty slice gives text")
	}
}

// Data finds the memory of a slice of any type in an interface, without its type.
func TestData(t *testing.T) {
	ints, texts := make([]int, 3, 5), []string{"a", "b"}
	for _, c := range []struct {
		v    any
		want unsafe.Pointer
	}{
		{ints, unsafe.Pointer(&ints[0])},
		{ints[1:], unsafe.Pointer(&ints[1])},
		{texts, unsafe.Pointer(&texts[0])},
		{[]byte(nil), nil},
	} {
		if got := addr.Data(c.v); got != c.want {
			t.Errorf("Data(%T) is %p, want %p", c.v, got, c.want)
		}
	}
	if got := addr.Pointer(&ints[1]); got != unsafe.Pointer(&ints[1]) || addr.Pointer(nil) != nil {
		t.Errorf("Pointer finds %p", got)
	}
	if addr.Add(addr.First(ints), int(unsafe.Sizeof(0))) != unsafe.Pointer(&ints[1]) {
		t.Error("Add finds another element")
	}
	if got := addr.Offset(addr.First(ints[2:]), addr.First(ints)); got != 2*unsafe.Sizeof(0) {
		t.Errorf("Offset is %d", got)
	}
}

func TestBefore(t *testing.T) {
	var s struct {
		a, b int
		c    string
	}
	s.b, s.c = 7, "text"
	if p := addr.Before[int](&s.c); p != &s.b || *p != 7 {
		t.Errorf("%p, want %p", p, &s.b)
	}
}
