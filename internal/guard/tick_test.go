package guard_test

import (
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/testkit"
)

// However often the clock is started and stopped, there is one timer at a time, and none
// in the end.
func TestOneTimer(t *testing.T) {
	if !testkit.InChild(t) { // where nobody else has started it
		testkit.MustChild(t, guard.Variable+"=0")
		return
	}
	var armed []func()
	defer guard.SetTimer(func(_ time.Duration, f func()) { armed = append(armed, f) })()
	fire := func() {
		fs := armed
		armed = nil
		for _, f := range fs {
			f()
		}
	}
	want := func(what string, n int) {
		t.Helper()
		if len(armed) != n {
			t.Fatalf("%d timers %s, want %d", len(armed), what, n)
		}
	}
	guard.Run(true)
	guard.Run(true)
	want("of a clock that was started twice", 1)
	for range 3 {
		fire()
		want("after a tick", 1)
	}
	guard.Run(false)
	guard.Run(true)
	want("of a clock that was stopped and started", 1)
	fire()
	want("after that", 1)
	guard.Run(false)
	fire()
	want("of a clock that was stopped", 0)
	guard.Run(true)
	want("of one that was started again", 1)
	guard.Run(false)
	fire()
	want("in the end", 0)
}
