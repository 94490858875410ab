package layout_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/testkit"
)

type item struct {
	id   int
	next *item
}

type composed struct {
	n     int
	empty [0]string
	items [4]item
	tail  any
}

// Masks are compared with the compiler's in package shape; here is what the
// other packages rely on.
func TestHasPointersAndFirst(t *testing.T) {
	for _, c := range []struct {
		typ   reflect.Type
		first string // "" for a pointer-free type
	}{
		{reflect.TypeFor[int](), ""},
		{reflect.TypeFor[uintptr](), ""},
		{reflect.TypeFor[struct{}](), ""},
		{reflect.TypeFor[[0]*int](), ""},
		{reflect.TypeFor[[2][0]string](), ""},
		{reflect.TypeFor[struct{ a [3][0]any }](), ""},
		{reflect.TypeFor[[1 << 20]complex128](), ""},
		{reflect.TypeFor[string](), "(string)"},
		{reflect.TypeFor[*int](), "(*int)"},
		{reflect.TypeFor[error](), "(error)"},
		{reflect.TypeFor[interface{}](), "(any)"},
		{reflect.TypeFor[[]interface{}](), "([]any)"},
		{reflect.TypeFor[func()](), "(func())"},
		{reflect.TypeFor[[1 << 20]string](), "[0] (string)"},
		{reflect.TypeFor[[2][3]item](), "[0][0].next (*layout_test.item)"},
		{reflect.TypeFor[composed](), ".items[0].next (*layout_test.item)"},
		{reflect.TypeFor[struct {
			a int
			item
		}](), ".item.next (*layout_test.item)"},
	} {
		for range 2 { // the second time from the cache
			if got := layout.HasPointers(c.typ); got != (c.first != "") {
				t.Errorf("HasPointers(%v) = %v", c.typ, got)
			}
		}
		if got, ok := layout.FirstPointer(c.typ); got != c.first || ok != (c.first != "") {
			t.Errorf("FirstPointer(%v) = %q, %v; want %q", c.typ, got, ok, c.first)
		}
	}
}

func TestHasPointersAllocatesNothing(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[*item](), reflect.TypeFor[composed](), reflect.TypeFor[[9]composed](),
	} {
		layout.HasPointers(typ)
		if n := testing.AllocsPerRun(100, func() { layout.HasPointers(typ) }); n != 0 {
			t.Errorf("HasPointers(%v): %v allocations", typ, n)
		}
	}
}

func TestNilPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"Of(nil)":          func() { layout.Of(nil) },
		"HasPointers(nil)": func() { layout.HasPointers(nil) },
		"FirstPointer":     func() { layout.FirstPointer(nil) },
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "layout: ") {
					t.Errorf("%s: panic %q", name, r)
				}
			}()
			call()
		}()
	}
}

func TestBits(t *testing.T) {
	scalar := layout.Leaf("int64", 8, 8, 8, layout.Scalar)
	str := layout.Leaf("string", 16, 8, 8, layout.String)
	ptr := layout.Leaf("*int", 8, 8, 8, layout.Pointer)
	pair := layout.Struct("pair", 24, 8, 8, []layout.Field{{Name: "n", Node: scalar}, {Name: "s", Offset: 8, Node: str}})
	for want, n := range map[string]*layout.Node{
		"0":                layout.Leaf("byte", 1, 1, 8, layout.Scalar),
		"-":                layout.Array("[0]string", 0, str),
		"010":              pair,
		"010010":           layout.Array("[2]pair", 2, pair),
		"0{65}":            layout.Array("[65]int64", 65, scalar),
		"1{65}":            layout.Array("[65]*int", 65, ptr),
		"(010){1000}":      layout.Array("[1000]pair", 1000, pair),
		"((10){50}){1000}": layout.Array("[1000][50]string", 1000, layout.Array("[50]string", 50, str)),
		// Neighbours join: the pointer with the array of pointers.
		"01{71}0{30}10": layout.Struct("s", 104*8, 8, 8, []layout.Field{
			{Name: "a", Node: scalar},
			{Name: "b", Offset: 8, Node: ptr},
			{Name: "c", Offset: 16, Node: layout.Array("[70]*int", 70, ptr)},
			{Name: "d", Offset: 72 * 8, Node: layout.Array("[30]int64", 30, scalar)},
			{Name: "e", Offset: 102 * 8, Node: str},
		}),
	} {
		if got := n.Bits(); got != want {
			t.Errorf("%s: bits %q, want %q", n.Name, got, want)
		}
	}
}
