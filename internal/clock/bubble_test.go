//go:build go1.25

package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/internal/clock"
)

// In a bubble time goes by when the test says so, and only times of its own clock have
// an age.
func TestBubble(t *testing.T) {
	world := clock.Now()
	var begun, slept clock.Time
	synctest.Test(t, func(t *testing.T) {
		if !clock.InBubble() {
			t.Error("not in a bubble")
		}
		begun = clock.Now()
		if begun != -1 || !begun.Wall().Equal(time.Now()) {
			t.Errorf("the clock begins at %d, %v", begun, begun.Wall())
		}
		time.Sleep(time.Hour)
		slept = clock.Now()
		if age := begun.Age(); age != time.Hour || !slept.Wall().Equal(time.Now()) {
			t.Errorf("%v old after an hour, at %v", age, slept.Wall())
		}
		if age := world.Age(); age != 0 {
			t.Errorf("a time of the world is %v old", age)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if age := slept.Age(); age != 0 {
			t.Errorf("a time of another bubble is %v old", age)
		}
		time.Sleep(50 * 365 * 24 * time.Hour)
		if !clock.InBubble() {
			t.Error("not in a bubble any more")
		}
	})
	if age := begun.Age(); age != 0 {
		t.Errorf("a time of a bubble is %v old outside", age)
	}
	if clock.InBubble() {
		t.Error("still in a bubble")
	}
}
