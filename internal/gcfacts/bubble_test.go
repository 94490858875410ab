//go:build go1.25

package gcfacts_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
)

// monotonic reports whether a time has a monotonic part, which a bubble's have not.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// TestBubbleClock is fact 23: in a bubble of testing/synctest times begin in the year 2000 and
// have no monotonic part, and timers that did not fire when the bubble ends never do.
func TestBubbleClock(t *testing.T) {
	if !monotonic(time.Now()) {
		t.Error("a time of the world has no monotonic part")
	}
	var fired atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		if now := time.Now(); monotonic(now) || !now.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("a bubble begins at %v", now)
		}
		time.AfterFunc(1, func() { fired.Store(true) })
	})
	testkit.CollectGarbage()
	if fired.Load() {
		t.Error("a bubble's timer fired after its end")
	}
}

// TestCleanupsOutsideBubbles is fact 23 as well: the cleanup of an object that was made in
// a bubble runs in none, and neither does what it starts.
func TestCleanupsOutsideBubbles(t *testing.T) {
	if !testkit.InChild(t) { // where no cleanup has run before
		testkit.MustChild(t)
		return
	}
	told := make(chan bool, 2)
	synctest.Test(t, func(*testing.T) {
		runtime.AddCleanup(new(ring), func(int) {
			c := make(chan bool)
			go func() { told <- <-c }()
			time.AfterFunc(1, func() { c <- monotonic(time.Now()) })
			told <- monotonic(time.Now())
		}, 0)
		runtime.GC()
		runtime.GC()
	})
	for _, what := range []string{"a cleanup, or what it started,", "the other of them"} {
		if !testkit.Receive(t, what, told) {
			t.Errorf("%s is in a bubble", what)
		}
	}
}
