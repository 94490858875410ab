package guard

import "time"

// InUse returns how many slots are in use, and how many of those by what was released.
func InUse() (used, released int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.used, len(all.held)
}

// Step is what happens at a tick.
var Step = step

// Now returns the rate.
func Now() uint32 { return every.Load() }

const (
	MaxBytes = maxBytes
	CanOpen  = canOpen
	PerTick  = perTick
	PerOwner = perOwner
)

// Known returns how many objects the guard knows by their address, and how many its
// filter counts.
func Known() (objects, filtered int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for i := range filter {
		filtered += int(filter[i].Load())
	}
	return len(all.by), filtered
}

// SetTimer has f called in place of what makes timers, until the result is called.
func SetTimer(f func(time.Duration, func())) (back func()) {
	old := after
	after = f
	return func() { after = old }
}

// Run starts or ends the clock.
var Run = run
