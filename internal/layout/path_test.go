package layout_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/layout"
)

func TestPathAt(t *testing.T) {
	type inner struct {
		a byte
		b []int
	}
	type outer struct {
		x     int64
		empty struct{}
		list  [3]inner
		name  string
	}
	var v outer
	for _, c := range []struct {
		off  uintptr
		want string
	}{
		{0, ".x"}, {7, ".x"},
		{unsafe.Offsetof(v.list), ".list[0].a"},
		{unsafe.Offsetof(v.list) + 1, ".list[0]"}, // padding
		{unsafe.Offsetof(v.list) + 2*unsafe.Sizeof(inner{}) + unsafe.Offsetof(v.list[0].b), ".list[2].b"},
		{unsafe.Offsetof(v.name) + 1, ".name"},
		{unsafe.Sizeof(v), ""},
	} {
		if got := layout.PathAt(reflect.TypeOf(v), c.off); got != c.want {
			t.Errorf("byte %d is %q, want %q", c.off, got, c.want)
		}
	}
	if got := layout.PathAt(reflect.TypeFor[string](), 3); got != "" {
		t.Errorf("a string's part is %q", got)
	}
}
