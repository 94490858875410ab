package testkit

import (
	"runtime"
	"testing"

	"github.com/haven-mem/haven/internal/addr"
)

// probe keeps the compiler from dropping what [NeedsExactAllocs] does.
var probe uintptr

// NeedsExactAllocs skips a test that counts allocations where the compiler adds
// some: with -d=checkptr=2 whatever is converted to an unsafe.Pointer escapes
// to the heap. The guard adds some as well.
func NeedsExactAllocs(t testing.TB) {
	t.Helper()
	Unguarded(t)
	if testing.AllocsPerRun(10, func() { probe += addr.TypeWord((*int)(nil)) }) != 0 {
		t.Skip("this build allocates for conversions to unsafe.Pointer")
	}
}

// Taken returns the bytes of Go's heap that f allocates, in size classes.
func Taken(f func()) uintptr {
	least := ^uintptr(0)
	for range 5 { // other goroutines of the test process allocate, too
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, uintptr(after.TotalAlloc-before.TotalAlloc))
	}
	return least
}
