package stale

// AtStart is the rate that the environment set.
var AtStart uint32

func init() { AtStart = every.Load() }

// Pending returns how many releases wait.
func Pending() int {
	pending.mu.Lock()
	defer pending.mu.Unlock()
	return len(pending.list)
}

// MaxPending bounds those.
const MaxPending = maxPending
