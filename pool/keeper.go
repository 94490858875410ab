package pool

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/gccycle"
)

// A keeper is what a [Pool], or a [Bytes] with all of its size classes, has once:
// the bounds and what counts against them, the pace of trimming, and the lock.
//
// What lies idle counts against the bounds, and a magazine that a P has counts
// as if it were full, so that fast paths need not count anything. Under the lock,
//
//	objects = held + limits of the magazines in cells  ≤ max
//	bytes   = bytes of what is held + those that the magazines in cells may hold ≤ maxBytes
//	away    = in use + in the magazines in cells
//
// All of it that is not about size is counted in objects.
type keeper struct {
	kind, name string
	typ        string // of the objects, as %T prints a pointer to one
	max        int    // or none, as is maxBytes
	maxBytes   int
	floor      int
	pause      time.Duration // between steps; 0: collections set the pace
	share      int           // of the bounds, what a P's magazine may take: see depot.measure
	classed    bool          // a depot for each size class

	mu      sync.Mutex
	depots  []*depot // the one with the largest objects first
	objects int
	bytes   int
	held    int // idle in the depots
	away    int
	high    int // the most that away was
	self    *self
	watched bool // gccycle calls afterGC
	armed   bool // the timer runs
	twice   uintptr

	large struct{ misses, puts, dropped uint64 } // buffers that no class takes

	hooks    *atomic.Uint32 // those of the pool; nil until it is ready
	watching watching

	after func(time.Duration, func()) // outside.After, if nil
}

// A self is what stands for a keeper in weak pointers, which must not refer to a
// global variable, as a zero Pool may well be (GC.md fact 15).
type self struct{ k *keeper }

// configure sets what the settings of a Bytes say, or those that a Pool has in common with
// one.
func (k *keeper) configure(kind string, c BytesConfig) {
	k.kind, k.name = kind, c.Name
	k.max, k.maxBytes, k.floor = orNone(c.Max), orNone(c.MaxBytes), c.Floor
	if c.Idle > 0 {
		k.pause = max(c.Idle/2, time.Millisecond)
	}
}

// publish lists a pool that has a name and is ready.
func (k *keeper) publish() {
	if k.name != "" {
		k.self = &self{k}
		pools.Add(k.self)
	}
}

// title returns what messages call the pool.
func (k *keeper) title() string { return titleOf(k.kind, k.name) }

// fits returns whether there is room for more objects and bytes, and if not,
// for which of the two.
func (k *keeper) fits(objects, bytes int) (ok, byCount bool) {
	if objects > k.max-k.objects {
		return false, true
	}
	return bytes <= k.maxBytes-k.bytes, false
}

// charge adds to what counts against the bounds.
func (k *keeper) charge(objects, bytes int) {
	k.objects += objects
	k.bytes += bytes
}

// left notes that n objects left the depots, or were made.
func (k *keeper) left(n int) {
	k.away += n
	k.high = max(k.high, k.away)
}

// wake has the pool trimmed from now on. Every slow path calls it.
func (k *keeper) wake() {
	if !k.watched {
		k.watched = true
		if k.self == nil {
			k.self = &self{k}
		}
		gccycle.Watch(k.self, func(s *self, near gccycle.Pressure) { s.k.afterGC(bool(near)) })
		working.Add(k.self)
		k.hook()
	}
	if k.pause > 0 && !k.armed {
		k.arm()
	}
}

// unlock unlocks, and panics if an object was found to be put twice. It may have
// been found where nobody could be told, or where the caller was to get an object:
// whoever puts is told, and may not be the one who made the mistake.
func (k *keeper) unlock() {
	k.checkInvariants()
	p := k.twice
	k.twice = 0
	k.mu.Unlock()
	if p != 0 {
		panic(fmt.Sprintf("pool: %s: object %#x (%s) was Put twice", k.title(), p, k.typ))
	}
}

// checkInvariants verifies what the lock guards, in the check build.
func (k *keeper) checkInvariants() {
	if !check.Enabled {
		return
	}
	held := 0
	for _, d := range k.depots {
		held += len(d.idle)
		if d.distinct && d.seen.n != len(d.idle) || d.costed && len(d.costs) != len(d.idle) || d.least > len(d.idle) {
			panic(fmt.Sprintf("pool: %s: depot is damaged: %d idle, %d seen, %d costs, least %d", k.title(), len(d.idle), d.seen.n, len(d.costs), d.least))
		}
	}
	if held != k.held || k.held > k.objects || k.objects > k.max || k.bytes > k.maxBytes || k.bytes < 0 {
		panic(fmt.Sprintf("pool: %s: numbers do not add up: %d held of %d objects (at most %d), %d bytes (at most %d)", k.title(), held, k.objects, k.max, k.bytes, k.maxBytes))
	}
}

// address returns p as a number, to compare it and to print it.
//
// SAFETY: the number is never made a pointer again, and what has it in seen is
// idle, which the depot keeps alive.
func address(p unsafe.Pointer) uintptr { return uintptr(p) }
