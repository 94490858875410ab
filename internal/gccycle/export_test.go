package gccycle

// Listeners returns how many listeners wait for the next round, and whether a
// sentinel is armed or a round under way.
func Listeners() (n int, armed bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	return len(all.list), all.armed
}

// Strand makes the sentinels that are armed ones of a round that is past, so
// that their cleanups do nothing, as if they never came.
func Strand() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.rounds++
}

// Arm arms one more sentinel for the next round.
func Arm() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.arm()
}

// Due has the next Check look.
func Due() { all.next.Store(0) }

// Waits reports whether the next Check will not look.
func Waits() bool { return all.next.Load() > 0 }

// Late returns the number of completed collections that the round is late at.
func Late() uint64 {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.late
}

// Lapse makes the round late, and returns the cleanup of the sentinel for it.
func Lapse() (cleanup func()) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.late = 0
	before := all.rounds
	return func() { all.round(before) }
}
