package clock_test

import (
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/clock"
)

func TestWorld(t *testing.T) {
	if clock.InBubble() {
		t.Error("in a bubble")
	}
	before := time.Now()
	a := clock.Now()
	b := clock.Now()
	if a < 0 || b < a {
		t.Errorf("%d, and then %d", a, b)
	}
	after := time.Now()
	if w := b.Wall(); w.Before(before) || w.After(after) {
		t.Errorf("%v is called %v", before, w)
	}
	if age := a.Age(); age < 0 || age > time.Since(before) {
		t.Errorf("%v old after %v", age, time.Since(before))
	}
	if age := clock.Time(-5).Age(); age != 0 {
		t.Errorf("a time of a bubble is %v old", age)
	}
}
