package testkit

import (
	"testing"

	"github.com/haven-mem/haven/internal/addr"
)

// probe keeps the compiler from dropping what [NeedsExactAllocs] does.
var probe uintptr

// NeedsExactAllocs skips a test that counts allocations where the compiler adds
// some: with -d=checkptr=2 whatever is converted to an unsafe.Pointer escapes
// to the heap.
func NeedsExactAllocs(t testing.TB) {
	t.Helper()
	if testing.AllocsPerRun(10, func() { probe += addr.TypeWord((*int)(nil)) }) != 0 {
		t.Skip("this build allocates for conversions to unsafe.Pointer")
	}
}
