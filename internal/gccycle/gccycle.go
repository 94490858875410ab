// Package gccycle tells allocators that a garbage collection is over, and
// whether memory is short. It is for those who keep memory for later and want
// to give some of it back when it was idle from one collection to the next.
//
// # One sentinel for all
//
// Go calls nobody at the end of a collection. But it runs the cleanup of an
// object that it found dead (GC.md fact 15), so this package makes an object to
// which nothing refers, the sentinel: its cleanup calls all listeners, one after
// the other, and then makes the next sentinel. Such a round starts once for each
// collection that comes while no other round is under way, needs no goroutine
// and no timer, and costs one object however many listeners there are. Where
// nobody listens there is no sentinel. A sentinel whose cleanup does not come is
// replaced by [Check].
//
// # What a call tells
//
// An object made while the collector marks survives that collection (GC.md fact
// 19). So a sentinel's death tells of one that began after the sentinel was
// made, and that was after every listener's call of the round before. Whatever
// happened before a call returned was therefore over before the collection that
// the listener's next call reports began: before it stopped the world.
//
// Of a listener's first call this is not so: Watch may come while the sentinel
// of a collection under way is dead already. Who has to know that a collection
// began after some moment counts two calls from then on.
//
// # Who is kept alive
//
// Nobody: a listener is an object to which the package refers weakly. Once it is
// gone the next round drops what is left of it. A call holds the object for as
// long as it takes. If that is while the collector marks, the object survives
// this collection, and dies in the next one, beside which there is no round: only
// its end starts one.
package gccycle

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"weak"
)

// Watch has f called after each garbage collection from now on, with the object
// of p, until that is found dead. The first call may report a collection that
// began before Watch was called; each later one reports a collection that began
// after the call before had returned.
//
// Watch keeps p's object alive no longer than a call takes; f must not refer to
// it but through its argument, or it lives for ever. The object must be one of
// Go's heap of its own, not a global variable, and must have a pointer in it or
// take 16 bytes (GC.md facts 15 and 16). A nil p is never called for.
//
// Calls of all listeners come one after the other, on a goroutine of the
// runtime's which runs the cleanups of others, too: f should be short. It may
// call Watch. It must neither panic, which ends the program, nor call
// runtime.Goexit.
//
// Watch may be called by any number of goroutines. It allocates a few small
// objects, holds a lock that f is not called under, and calls [Check].
func Watch[T any](p *T, f func(*T, Pressure)) {
	w := weak.Make(p)
	all.add(func(near Pressure) bool {
		p := w.Value()
		if p == nil {
			return false
		}
		f(p, near)
		return true
	})
	Check()
}

// A listener is called after a collection and reports whether its object lives.
type listener func(near Pressure) bool

// watchers are the listeners of a process. A sentinel is armed, or a round is
// under way, if and only if armed is set, and it is set while there are any.
type watchers struct {
	next atomic.Int64 // when Check is to look again, as a time since start

	mu     sync.Mutex
	list   []listener // but for those that a round has in hand
	armed  bool
	rounds uint64 // how many began; the sentinels that are armed for the next know it
	late   uint64 // the number of completed collections that a round is late at
	cycles [1]metrics.Sample
}

var all watchers

func (w *watchers) add(l listener) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, l)
	if !w.armed {
		w.armed = true
		w.arm()
	}
}

// arm has round called after the next garbage collection that begins. It may be
// called again for the same round, which starts once.
func (w *watchers) arm() {
	runtime.AddCleanup(new(sentinel), w.round, w.rounds)
	w.late = w.completed() + 3
}

// A sentinel is an object whose death tells of a garbage collection. It has a
// pointer so that it is not one of several in a block of the tiny allocator,
// which die together (GC.md fact 16).
type sentinel struct{ _ *byte }

// round calls every listener that was there when it began and drops those whose
// object is dead. The next sentinel must come after all calls: made earlier, it
// could report a collection that began before a call.
//
// It is for a sentinel that was armed when as many rounds had begun as before
// says. If another began since, that sentinel was one of several for it, and may
// be older than the last call: then round does nothing.
func (w *watchers) round(before uint64) {
	w.mu.Lock()
	if before != w.rounds {
		w.mu.Unlock()
		return
	}
	w.rounds++
	w.late = never
	list := w.list
	w.list = nil
	w.mu.Unlock()

	near := Near()
	live := list[:0]
	for _, l := range list {
		if l(near) {
			live = append(live, l)
		}
	}
	clear(list[len(live):])
	if len(live) < cap(live)/4 {
		live = append([]listener(nil), live...)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(live, w.list...)
	w.armed = len(w.list) > 0
	if w.armed {
		w.arm()
	}
}
