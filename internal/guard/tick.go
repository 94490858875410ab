package guard

import (
	"sync"
	"time"
)

// The clock bounds what is sampled, and owners that do not count their releases are
// asked at each tick how many there were.
const (
	tick     = 100 * time.Millisecond
	perTick  = 16
	perOwner = 4 // at a time
)

var watchers struct {
	mu     sync.Mutex
	ticked []func()
	other  []func()
	stop   chan struct{} // of the goroutine that ticks, if there is one
}

// Watch has ticked called at each tick, and change when the rate may have changed.
func Watch(ticked, change func()) {
	watchers.mu.Lock()
	defer watchers.mu.Unlock()
	watchers.ticked = append(watchers.ticked, ticked)
	watchers.other = append(watchers.other, change)
}

// run starts or ends the goroutine that ticks.
func run(on bool) {
	w := &watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if on == (w.stop != nil) {
		return
	}
	if !on {
		close(w.stop)
		w.stop = nil
		return
	}
	stop := make(chan struct{})
	w.stop = stop
	go func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				step()
			}
		}
	}()
}

// step is what happens at a tick.
func step() {
	left.Store(perTick)
	call(func() []func() { return watchers.ticked })
}

func changed() { call(func() []func() { return watchers.other }) }

// call calls functions without the lock.
func call(list func() []func()) {
	watchers.mu.Lock()
	fs := list()
	watchers.mu.Unlock()
	for _, f := range fs {
		f()
	}
}
