package gccycle

import (
	"math"
	"runtime/metrics"
	"time"
)

// Check makes a new sentinel where the cleanup of the one that is armed does not
// come, so that listeners are called again from the next collection on. From
// go1.25 on the runtime may keep a cleanup back, without limit, when GOMAXPROCS
// becomes smaller (GC.md fact 15). Without calls of Check or [Watch] nobody is
// told of a collection then.
//
// It is for slow paths of those who listen. Any goroutine may call it at any
// time, a listener's call included; it calls no listener itself. It costs the
// reading of a clock and an atomic load. Once in a second one of the callers takes
// a lock and asks the runtime how many collections there were, which takes about
// a microsecond; it allocates only where a sentinel is late.
func Check() {
	now := int64(time.Since(start))
	next := all.next.Load()
	if now < next && next-now <= int64(pause) {
		return
	}
	// A time that is further off is that of another clock: each bubble of testing/synctest
	// has its own (GC.md fact 23).
	if all.next.CompareAndSwap(next, now+int64(pause)) {
		all.look()
	}
}

const pause = time.Second // from one look to the next

var start = time.Now()

// never is the number of collections that a round which began is late at.
const never = math.MaxUint64

// look arms another sentinel if a round is late.
//
// A sentinel that is made while c collections are completed is found dead by
// collection c+2 at the latest, as c+1 may be marking already. That one has
// swept, and handed over all cleanups, before the next begins. So a cleanup
// which did not come when c+3 collections are completed is kept back, or waits
// for its turn behind others. The second is no mistake: whichever sentinel of a
// round comes first starts it, so that no number of looks puts it off.
//
// A weak pointer to the sentinel would not do in place of the number: to ask it
// while the collector marks keeps the object alive, and many who ask all the time
// would put the rounds off.
func (w *watchers) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed && w.completed() >= w.late {
		w.arm()
	}
}

// completed returns how many garbage collections have marked to the end.
func (w *watchers) completed() uint64 {
	w.cycles[0].Name = "/gc/cycles/total:gc-cycles"
	metrics.Read(w.cycles[:])
	return w.cycles[0].Value.Uint64()
}
