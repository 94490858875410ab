//go:build cgo

package shape_test

import (
	"reflect"
	"runtime/cgo"
	"testing"

	"github.com/haven-mem/haven/shape"
)

// opaque is how cgo writes an incomplete C struct: a type that is never in
// Go's heap, so that pointers to it are no pointers to the collector.
type opaque struct{ _ cgo.Incomplete }

func TestPointersOutOfTheHeap(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*opaque](),
		reflect.TypeFor[[]opaque](),
		reflect.TypeFor[*[3]opaque](),
		reflect.TypeFor[**opaque](),
		reflect.TypeFor[[]*opaque](),
		reflect.TypeFor[struct {
			c *opaque
			s string
		}](),
		reflect.TypeFor[func(*opaque)](),
	} {
		compare(t, typ)
	}
	if !shape.Of[*opaque]().PointerFree() {
		t.Error("a pointer to a type out of the heap counts as a pointer")
	}
}
