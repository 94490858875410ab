package scope

import (
	"runtime"
	"sync/atomic"
)

// What an abandoned context has of the limits above it stays taken until a
// garbage collection. A heap that is much larger than the limits may not have one
// for minutes, while clients who hang up take all that the limits give. So a limit
// that is reached starts one, if there is something for it to find.
var (
	abandoned  atomic.Bool // a context, since the last collection was started
	collecting atomic.Bool
)

// Abandoned notes that a context was abandoned.
func Abandoned() {
	if !abandoned.Load() { // which spares the processors a shared write
		abandoned.Store(true)
	}
}

// Collect starts a garbage collection in the background if a context was abandoned
// since the last time, and none is under way that Collect started.
func Collect() {
	if !abandoned.Load() || !collecting.CompareAndSwap(false, true) {
		return
	}
	abandoned.Store(false)
	go func() {
		defer collecting.Store(false)
		runtime.GC()
	}()
}
