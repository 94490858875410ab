package guard

import (
	"sync"
	"time"

	"github.com/haven-mem/haven/internal/outside"
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
	on     bool
	armed  bool // the timer runs; it stops by itself
}

// Watch has ticked called at each tick, and change when the rate may have changed.
func Watch(ticked, change func()) {
	watchers.mu.Lock()
	defer watchers.mu.Unlock()
	watchers.ticked = append(watchers.ticked, ticked)
	watchers.other = append(watchers.other, change)
}

// run starts or ends the clock.
func run(on bool) {
	w := &watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = on
	if on && !w.armed {
		w.armed = true
		after(tick, fire)
	}
}

// after is replaced in tests.
var after = outside.After

// fire is called by the timer. It arms it again, unless the clock was stopped.
func fire() {
	w := &watchers
	w.mu.Lock()
	on := w.on
	w.armed = on
	w.mu.Unlock()
	if on {
		step()
		after(tick, fire)
	}
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
