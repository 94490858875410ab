package heap_test

import (
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/heap"
	"github.com/haven-mem/haven/internal/testkit"
)

type object struct {
	next *object
	n    [20]int
}

var global object

func TestHas(t *testing.T) {
	x, tiny, large := new(object), new(byte), make([]object, 10_000)
	for _, c := range []struct {
		what string
		p    unsafe.Pointer
		want bool
	}{
		{"an object", unsafe.Pointer(x), true},
		{"a part of one", unsafe.Pointer(&x.n[19]), true},
		{"a tiny object", unsafe.Pointer(tiny), true},
		{"a part of a large object", unsafe.Pointer(&large[9_999]), true},
		{"a global variable", unsafe.Pointer(&global), false},
		{"an object without size", unsafe.Pointer(new(struct{})), false},
		{"nil", nil, false},
	} {
		if got := heap.Has((*byte)(c.p)); got != c.want {
			t.Errorf("%s is of the heap: %v", c.what, got)
		}
	}
	mapped := testkit.Mapped(t, 100)
	if heap.Has(&mapped[50]) {
		t.Error("memory of the system's is of the heap")
	}
}

// The object dies as if nobody had asked.
func TestHasHoldsNothing(t *testing.T) {
	var census testkit.Census
	func() {
		for range 100 {
			p := testkit.Enroll(&census, new(object))
			heap.Has((*byte)(unsafe.Pointer(p)))
		}
	}()
	testkit.CollectGarbage()
	if n := census.Alive(); n != 0 {
		t.Errorf("%d objects live", n)
	}
}
