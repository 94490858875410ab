package track_test

import (
	"math"
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/track"
)

// rates sets how often releases are watched, for a test. The guard draws at most 16
// samples before they are set again.
func rates(t *testing.T, of uint32, guarded int) {
	t.Helper()
	stale.SampleEvery(of)
	if err := guard.Set(guarded, guard.Slots); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stale.SampleEvery(0)
		if err := guard.Set(0, 0); err != nil {
			t.Fatal(err)
		}
	})
}

// counted returns how many of n releases are due for each of both, of owners with so many
// in their life.
func counted(t *testing.T, n, life int, of uint32, guarded int) (stales, guards int) {
	for i := 0; i < n; {
		var c track.Countdown
		for range life {
			if guarded > 0 && i%16 == 0 {
				if err := guard.Set(guarded, guard.Slots); err != nil {
					t.Fatal(err)
				}
			}
			d := c.Due(true)
			if d&track.Stale != 0 {
				stales++
			}
			if d&track.Guard != 0 {
				guards++
			}
			i++
		}
	}
	return stales, guards
}

// One release in so many is due for each of both, whether an owner has one in its life or
// all, with six standard deviations at most between that and what is counted.
func TestCountdown(t *testing.T) {
	const n = 1 << 17
	near := func(what string, of, guarded, life, got int, rate float64) {
		want := n * rate
		// A number that is drawn is whole, which makes distances half a release longer.
		slack := 6*math.Sqrt(want*(1-rate)) + want*rate + float64(life%n) + 1
		if math.Abs(float64(got)-want) > slack {
			t.Errorf("1 in %d and 1 in %d, %d in a life: %d of %d releases are due for %s, want about %.0f", of, guarded, life, got, n, what, want)
		}
	}
	for _, of := range []uint32{0, 2, 3, 64, 1024, math.MaxUint32} {
		for _, guarded := range []int{0, 2, 64, 255, 256, 1000} {
			if check.Enabled || sanitize.Poisons {
				guarded = 0 // it is always off
			}
			rates(t, of, guarded)
			for _, life := range []int{1, 3, 100, n} {
				stales, guards := counted(t, n, life, of, guarded)
				rate, rateOfGuard := 0.0, 0.0
				if of > 0 {
					rate = 1 / float64(of)
				}
				if guarded > 0 {
					rateOfGuard = 1 / float64(guarded)
				}
				near("stale pointers", int(of), guarded, life, stales, rate)
				near("the guard", int(of), guarded, life, guards, rateOfGuard)
			}
		}
	}
}

// Who watches each release is due for each, also with a countdown under way, and no
// longer than that.
func TestEach(t *testing.T) {
	rates(t, math.MaxUint32, 0)
	var c track.Countdown
	for range 3 {
		if d := c.Due(true); d != 0 {
			t.Fatalf("due for %d", d)
		}
		end := stale.All()
		for range 100 {
			if d := c.Due(true); d != track.Stale || c.Due(false) != track.Stale {
				t.Fatalf("due for %d, want stale pointers", d)
			}
		}
		end()
		if check.Enabled || sanitize.Poisons {
			continue
		}
		rates(t, math.MaxUint32, 1)
		for range 100 {
			if d := c.Due(true); d != track.Guard {
				t.Fatalf("due for %d, want the guard", d)
			}
		}
		rates(t, math.MaxUint32, 0)
	}
}

// A countdown that is under way when nobody watches follows a rate that is set later.
func TestFollows(t *testing.T) {
	rates(t, 0, 0)
	var c track.Countdown
	if c.Due(true) != 0 {
		t.Fatal("due for nobody")
	}
	rates(t, 2, 0)
	for range 1 << 17 {
		if c.Due(true) != 0 {
			return
		}
	}
	t.Error("not due after 131,072 releases")
}
