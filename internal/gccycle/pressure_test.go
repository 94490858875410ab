package gccycle_test

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// used returns the bytes that the memory limit counts, in the other words of its
// documentation.
func used() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// ballast returns n bytes that are in use.
func ballast(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 1 << 10 {
		b[i] = 1
	}
	return b
}

// wantNear checks Near for a limit of percent hundredths of what is used.
func wantNear(t *testing.T, percent int64, want gccycle.Pressure) {
	t.Helper()
	for range 100 {
		before := used()
		debug.SetMemoryLimit(before / 100 * percent)
		got := gccycle.Near()
		after := used()
		debug.SetMemoryLimit(math.MaxInt64)
		if got == want {
			return
		}
		if d := after - before; -before/200 < d && d < before/200 { // else something else came between
			t.Errorf("with a limit of %d %% of what is used: near %v, want %v", percent, got, want)
			return
		}
	}
	t.Fatal("the memory in use does not stay the same")
}

// Near is true from nine tenths of the limit on.
func TestNear(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOGC=off", "GOMEMLIMIT=off")
		return
	}
	kept := ballast(64 << 20)
	wantNear(t, 1000, false)
	wantNear(t, 120, false)
	wantNear(t, 113, false)
	wantNear(t, 109, true)
	wantNear(t, 100, true)
	wantNear(t, 50, true)
	wantNear(t, 0, true)
	runtime.KeepAlive(kept)
}

// Near goes with what is in use under the limit of the environment, and tells
// listeners the same. What was given back to the system does not count.
func TestNearInEnvironment(t *testing.T) {
	limited := os.Getenv("GOMEMLIMIT") != "off"
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOMEMLIMIT=100MiB")
		testkit.MustChild(t, "GOMEMLIMIT=off")
		return
	}
	k := new(keeper)
	var last atomic.Bool
	gccycle.Watch(k, func(k *keeper, near gccycle.Pressure) {
		last.Store(bool(near))
		k.calls.Add(1)
	})
	check := func(want gccycle.Pressure) {
		t.Helper()
		if got := gccycle.Near(); got != want {
			t.Errorf("near %v with %d MiB in use, want %v", got, used()>>20, want)
		}
		calls := k.calls.Load()
		// A call may be under way, and ask Near of before.
		testkit.Eventually(t, "called twice", func() bool { return k.calls.Load() >= calls+2 })
		if got := last.Load(); got != bool(want) {
			t.Errorf("told near %v with %d MiB in use, want %v", got, used()>>20, want)
		}
	}
	check(false)
	kept := ballast(95 << 20)
	check(gccycle.Pressure(limited))
	runtime.KeepAlive(kept)
	kept = nil
	debug.FreeOSMemory()
	check(false)
	runtime.KeepAlive(k)
}
