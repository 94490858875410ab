package request

import (
	"runtime"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// What an abandoned context has of the limits above it stays taken until a
// garbage collection. A heap that is much larger than the limits may not have one
// for minutes, while clients who hang up take all that the limits give. So a limit
// that is reached starts one, if there is something for it to find.
var (
	abandoned  atomic.Bool // a context, since the last collection was started
	collecting atomic.Bool
)

func noteAbandoned() {
	if !abandoned.Load() { // which spares the processors a shared write
		abandoned.Store(true)
	}
}

// Above reports whether a limit that mc went over is that of a context above it.
// If it is, memory that was left to the garbage collector may count, and Above has
// it collected in the background.
func Above(limit *arena.LimitError, mc *memctx.Context) bool {
	for p := mc.Parent(); p != nil; p = p.Parent() {
		if p.Path() == limit.Name {
			collect()
			return true
		}
	}
	return false
}

// collect starts a garbage collection in the background if a context was abandoned
// since the last time, and none is under way that it started.
func collect() {
	if !abandoned.Load() || !collecting.CompareAndSwap(false, true) {
		return
	}
	abandoned.Store(false)
	go func() {
		defer collecting.Store(false)
		runtime.GC()
	}()
}
