// Package testkit has what the tests of several packages need: garbage
// collections that are over when the call returns, a count of which objects
// survived them, waits that end, and child processes for tests that set GODEBUG or
// may crash.
package testkit

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/haven-mem/haven/internal/gccycle"
)

// CollectGarbage runs two garbage collections and returns when both are done,
// sweeping included, and the cleanups of a probe object that died in the second
// have run. What nothing referred to at the call is gone by then.
//
// The runtime may keep the cleanup of a probe back (GC.md fact 15): if it does
// not come, another probe and another collection follow. There is no channel and
// no timer in it, for a test may be in a bubble of testing/synctest (fact 23).
func CollectGarbage() {
	runtime.GC()
	done := new(atomic.Bool)
	for !done.Load() {
		// The probe has a pointer, so that it is not one of several objects in a
		// block of the tiny allocator.
		runtime.AddCleanup(new(*byte), func(done *atomic.Bool) { done.Store(true) }, done)
		runtime.GC()
		for range 1 << 20 { // a tenth of a second, or more
			if done.Load() {
				return
			}
			runtime.Gosched()
		}
	}
}

// CountCollections has n garbage collections counted that begin after the call, so that
// allocators forget what was not used since (package gccycle).
func CountCollections(n uint32) {
	gccycle.Count()
	for before := gccycle.Epoch(); gccycle.Epoch()-before < n; {
		CollectGarbage()
	}
}

// Eventually collects garbage until ok reports true, and fails the test if it
// does not within 100 collections. It is for what happens in a cleanup, whose
// order among other cleanups is not defined.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 100 {
		if ok() {
			return
		}
		CollectGarbage()
	}
	if !ok() {
		t.Errorf("still not so after 100 garbage collections: %s", what)
	}
}

// A Census knows which of the objects that were enrolled are still alive. The
// zero Census is ready. It keeps nothing alive.
type Census struct {
	mu    sync.Mutex
	alive []func() bool
}

// Enroll enters p into c. It must point to an object of Go's heap of its own
// that holds a pointer or takes 16 bytes, so that it dies by itself.
func Enroll[T any](c *Census, p *T) *T {
	w := weak.Make(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive = append(c.alive, func() bool { return w.Value() != nil })
	return p
}

// Len returns how many objects were enrolled.
func (c *Census) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.alive)
}

// Alive returns how many of the objects live. After [CollectGarbage] the answer
// is exact: a weak pointer is cleared before the collection that finds its
// object dead is over.
func (c *Census) Alive() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, alive := range c.alive {
		if alive() {
			n++
		}
	}
	return n
}

// Hammer runs garbage collections in another goroutine until stop is called,
// which waits for the last one.
func Hammer() (stop func()) {
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !end.Load() {
			runtime.GC()
		}
	}()
	return func() {
		end.Store(true)
		<-done
	}
}

// HeapInUse returns the bytes of live objects on Go's heap after a collection.
func HeapInUse() uint64 {
	CollectGarbage()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
