// Package clock tells how old something is, where there may be more clocks than one: each
// bubble of testing/synctest has its own, which begins in the year 2000 (GC.md fact 23).
// Times of two clocks have nothing to do with each other.
package clock

import "time"

// A Time is a moment: nanoseconds since the program began, or in a bubble below zero,
// -1 being when the bubble's clock began. The zero Time is the program's beginning.
type Time int64

var (
	began = time.Now()
	epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of the bubbles' clocks
)

// apart is a time that no program has been running for, and less than there is between
// any time at which one runs and epoch.
const apart = 10 * 365 * 24 * time.Hour

// Now returns the time of the caller's clock. It costs what time.Since does. A bubble
// whose clock has come to the present is not told from the world outside.
func Now() Time {
	if d := time.Since(began); 0 <= d && d < apart {
		return Time(d)
	}
	return ^Time(time.Since(epoch))
}

// Age returns how long ago t was, by the caller's clock. It is 0 for times of another
// clock.
func (t Time) Age() time.Duration {
	now := Now()
	switch {
	case t < 0 && now < 0:
		return max(0, time.Duration(t-now))
	case t >= 0 && now >= 0:
		return time.Duration(now - t)
	}
	return 0
}

// Wall returns what t is called in the world, or in the bubble.
func (t Time) Wall() time.Time {
	if t < 0 {
		return epoch.Add(time.Duration(^t))
	}
	return began.Add(time.Duration(t))
}

// InBubble reports whether the caller is in a bubble of testing/synctest. It costs what
// time.Now does.
func InBubble() bool {
	now := time.Now()
	// A bubble's times have no monotonic part. They have in go1.24, where the package is an
	// experiment, but it is far from that of the world.
	return now == now.Round(0) || now.Sub(began) > apart
}
