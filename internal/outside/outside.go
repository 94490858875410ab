// Package outside starts what serves the whole process behind the caller's back:
// goroutines, timers, and the channels that go with them.
//
// Whoever uses an allocator for the first time starts them, and that may be a test in a
// bubble of testing/synctest. What is started there is of the bubble (GC.md fact 23): a
// goroutine that goes on makes the bubble's end a deadlock, a timer never fires in
// the world, and a channel must not be used there. But cleanups run outside of all
// bubbles, and so what is to be started in a bubble waits for the next garbage
// collection.
//
// A goroutine that waits for such orders would do without the collection, but it would
// be there in each program, and in each list of its goroutines, for the sake of tests.
package outside

import (
	"sync"
	"time"

	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/gccycle"
)

// Do calls f outside of all bubbles: before it returns, or, if the caller is in one, on a
// goroutine of the runtime's after the next garbage collection. f should be short, and
// must not panic. Any number of goroutines may call Do. It costs what time.Now does, and
// in a bubble a few small objects.
func Do(f func()) {
	if clock.InBubble() {
		later(f)
	} else {
		f()
	}
}

// After has f called on a goroutine of its own when d has passed, by the world's clock. In
// a bubble d begins with the next garbage collection.
func After(d time.Duration, f func()) {
	Do(func() { time.AfterFunc(d, f) })
}

// waiting is what was asked for in bubbles since the last collection.
var waiting struct {
	mu   sync.Mutex
	list []func()
	self *self // listens for the next collection, if there is one in list
}

// A self stands for the list with gccycle, which must not be given a global variable
// (GC.md fact 15).
type self struct{ _ *byte }

func later(f func()) {
	w := &waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, f)
	if w.self == nil {
		w.self = new(self)
		gccycle.Watch(w.self, func(*self, gccycle.Pressure) { run() })
	}
}

// run is called after a garbage collection.
func run() {
	w := &waiting
	w.mu.Lock()
	list := w.list
	w.list, w.self = nil, nil
	w.mu.Unlock()
	for _, f := range list {
		f()
	}
}
