package testkit

import (
	"testing"
	"unsafe"
)

// probe keeps the compiler from dropping what [NeedsExactAllocs] does.
var probe uintptr

// NeedsExactAllocs skips a test that counts allocations where the compiler adds
// some: with -d=checkptr=2 whatever a pointer is converted from escapes to the
// heap.
func NeedsExactAllocs(t testing.TB) {
	t.Helper()
	if testing.AllocsPerRun(10, func() {
		var x [2]uintptr
		// SAFETY: x is alive, and is read as what it is.
		probe += *(*uintptr)(unsafe.Pointer(&x))
	}) != 0 {
		t.Skip("this build allocates for conversions to unsafe.Pointer")
	}
}
