package gcfacts_test

import (
	"runtime"
	"testing"
	"unsafe"
)

// A leaf is what the functions of the test make and take.
type leaf struct {
	n    int
	next *leaf
}

// TestFunctionsOfPointers is fact 24: functions of pointers are called right whatever
// their type says of these, with variables of theirs, while stacks grow and the collector
// looks at them.
func TestFunctionsOfPointers(t *testing.T) {
	made, sum := 0, 0
	makes := func() *leaf {
		made++
		return &leaf{n: made, next: &leaf{n: -made}}
	}
	takes := func(p *leaf) {
		deepen(100)
		runtime.GC()
		if p.next.n != -p.n {
			t.Errorf("leaf %d is followed by %d", p.n, p.next.n)
		}
		sum += p.n
	}
	measures := func(p *leaf) int {
		deepen(100)
		return p.n * 10
	}
	var none func(*leaf)

	untypedMakes := *(*func() unsafe.Pointer)(unsafe.Pointer(&makes))
	untypedTakes := *(*func(unsafe.Pointer))(unsafe.Pointer(&takes))
	untypedMeasures := *(*func(unsafe.Pointer) int)(unsafe.Pointer(&measures))
	if *(*func(unsafe.Pointer))(unsafe.Pointer(&none)) != nil {
		t.Error("a nil function is not nil")
	}
	done := make(chan bool)
	go func() { // with a stack that is small
		defer close(done)
		for i := 1; i <= 10; i++ {
			p := untypedMakes()
			untypedTakes(p)
			if n := untypedMeasures(p); n != 10*i {
				t.Errorf("leaf %d measures %d", i, n)
			}
		}
	}()
	<-done
	if made != 10 || sum != 55 {
		t.Errorf("%d made, of which the sum is %d", made, sum)
	}
}

// deepen makes the stack grow by a few KiB.
//
//go:noinline
func deepen(n int) (sum byte) {
	var b [100]byte
	if n > 0 {
		b[n%100] = deepen(n - 1)
	}
	return b[n%100]
}
