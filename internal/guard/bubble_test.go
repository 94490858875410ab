//go:build go1.25

package guard_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
)

// The guard that is first turned on in a bubble of testing/synctest ticks in the world, and
// may be turned off and on in others.
func TestBubble(t *testing.T) {
	if check.Enabled || sanitize.Poisons {
		t.Skip("there is no guard in this build")
	}
	if !testkit.InChild(t) {
		testkit.MustChild(t, guard.Variable+"=0")
		return
	}
	var ticks atomic.Int64
	guard.Watch(func() { ticks.Add(1) }, func() {})
	set := func(t *testing.T, rate int) {
		if err := guard.Set(rate, 8); err != nil {
			t.Fatal(err)
		}
	}
	ticking := func() {
		testkit.CollectGarbage()
		before := ticks.Load()
		testkit.Until(t, "the guard's clock ticks", func() bool { return ticks.Load() > before+2 })
	}
	synctest.Test(t, func(t *testing.T) { set(t, 1000) })
	ticking()
	synctest.Test(t, func(t *testing.T) { set(t, 0) })
	synctest.Test(t, func(t *testing.T) { set(t, 500) })
	ticking()
	set(t, 0)
	set(t, 1000)
	ticking()
	set(t, 0)
}
