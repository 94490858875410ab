//go:build go1.25

package outside_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/outside"
	"github.com/haven-mem/haven/internal/testkit"
)

// What is asked for in a bubble is done in the world after a collection: a goroutine outlives
// the bubble, a channel that was made is of use there, and time is the world's.
func TestBubble(t *testing.T) {
	var orders chan chan bool
	var did atomic.Bool
	came := make(chan bool, 2)
	for range 3 { // bubbles, of which no two have to do with each other
		did.Store(false)
		synctest.Test(t, func(t *testing.T) {
			outside.Do(func() {
				if clock.InBubble() {
					t.Error("done in the bubble")
				}
				c := make(chan chan bool)
				go func() {
					for answer := range c {
						answer <- clock.InBubble()
					}
				}()
				orders = c
				did.Store(true)
			})
			outside.After(time.Nanosecond, func() { came <- clock.InBubble() })
			time.Sleep(time.Hour)
		})
		testkit.Eventually(t, "what was asked for in a bubble is done", did.Load)
		if t.Failed() {
			return
		}
		answer := make(chan bool)
		orders <- answer
		if testkit.Receive(t, "the goroutine", answer) {
			t.Error("the goroutine is in a bubble")
		}
		close(orders)
		if testkit.Receive(t, "After", came) {
			t.Error("the timer fired in a bubble")
		}
	}
}

// While the bubble is there, too.
func TestCollectionInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		for i := range int32(10) {
			outside.Do(func() { n.Add(1) })
			outside.Do(func() { n.Add(1) })
			testkit.Eventually(t, "both are done", func() bool { return n.Load() == 2*(i+1) })
		}
	})
}
