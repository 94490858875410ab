package check

import (
	"reflect"
	"testing"
)

// A page tells which release it stands for until so many others have got one, and
// afterwards that it stands for some.
func TestPages(t *testing.T) {
	release := func(typ reflect.Type) uintptr {
		return page(&Released{Owner: "test", Type: typ, N: 1}, places{})
	}
	text, number := reflect.TypeFor[string](), reflect.TypeFor[int]()
	known := func(what string, address uintptr, want reflect.Type) {
		t.Helper()
		if f, poison := releasedAt(address); !poison || f.typ != want {
			t.Errorf("%s: %v, %v, want %v", what, f.typ, poison, want)
		}
	}
	first := release(text)
	known("the first", first+stride-1, text)
	if faults.count <= remembered { // the system had no room for a range as large
		t.Skipf("there are %d pages", faults.count)
	}
	known("the next, which nobody has", first+stride, nil)
	for range remembered - 1 {
		release(number)
	}
	known("the first after many", first, text)
	last := release(number)
	known("the last", last, number)
	known("the first after too many", first, nil)
	if _, poison := releasedAt(1); poison {
		t.Error("any address stands for a release")
	}
}
