//go:build go1.25

package gccycle_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// What first listens in a bubble of testing/synctest is called there and afterwards, by a
// goroutine that is in none.
func TestFirstInBubble(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	k := new(keeper)
	var n atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		gccycle.Watch(k, func(*keeper, gccycle.Pressure) {
			if clock.InBubble() {
				t.Error("called in a bubble")
			}
			n.Add(1)
		})
		testkit.Eventually(t, "called in the bubble", func() bool { return n.Load() > 0 })
	})
	before := n.Load()
	testkit.Eventually(t, "called after the bubble", func() bool { return n.Load() > before })
	runtime.KeepAlive(k)
}

// Check looks in a bubble, whose clock is another, and in the world after it.
func TestCheckInBubble(t *testing.T) {
	alone(t)
	k := counted()
	late := func(where string) {
		gccycle.Lapse()
		if gccycle.Check(); gccycle.Late() == 0 {
			t.Errorf("%s Check does not look", where)
		}
	}
	look()
	synctest.Test(t, func(t *testing.T) { late("in a bubble") })
	late("after a bubble")
	runtime.KeepAlive(k)
}
