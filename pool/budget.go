package pool

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/track"
)

// A budget is what a [Pool], or a [Bytes] with all of its size classes, has once:
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
type budget struct {
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

	marks track.Marks

	after func(time.Duration, func()) // outside.After, if nil
}

// A self is what stands for a budget in weak pointers, which must not refer to a
// global variable, as a zero Pool may well be (GC.md fact 15).
type self struct{ b *budget }

// configure sets what the settings of a Bytes say, or those that a Pool has in common with
// one.
func (b *budget) configure(kind string, c BytesConfig) {
	b.kind, b.name = kind, c.Name
	b.max, b.maxBytes, b.floor = orNone(c.Max), orNone(c.MaxBytes), c.Floor
	if c.Idle > 0 {
		b.pause = max(c.Idle/2, time.Millisecond)
	}
}

// publish lists a pool that has a name and is ready.
func (b *budget) publish() {
	if b.name != "" {
		b.self = &self{b}
		pools.Add(b.self)
	}
}

// title returns what messages call the pool.
func (b *budget) title() string { return account.Title(b.kind, b.name) }

// fits returns whether there is room for more objects and bytes, and if not,
// for which of the two.
func (b *budget) fits(objects, bytes int) (ok, byCount bool) {
	if objects > b.max-b.objects {
		return false, true
	}
	return bytes <= b.maxBytes-b.bytes, false
}

// charge adds to what counts against the bounds.
func (b *budget) charge(objects, bytes int) {
	b.objects += objects
	b.bytes += bytes
}

// left notes that n objects left the depots, or were made.
func (b *budget) left(n int) {
	b.away += n
	b.high = max(b.high, b.away)
}

// wake has the pool trimmed from now on. Every slow path calls it.
func (b *budget) wake() {
	if !b.watched {
		b.watched = true
		if b.self == nil {
			b.self = &self{b}
		}
		gccycle.Watch(b.self, func(s *self, near gccycle.Pressure) { s.b.afterGC(bool(near)) })
		b.marks.Watch()
		if check.Enabled {
			working.Add(b.self)
		}
	}
	if b.pause > 0 && !b.armed {
		b.arm()
	}
}

// unlock unlocks, and panics if an object was found to be put twice. It may have
// been found where nobody could be told, or where the caller was to get an object:
// whoever puts is told, and may not be the one who made the mistake.
func (b *budget) unlock() {
	b.checkInvariants()
	p := b.twice
	b.twice = 0
	b.mu.Unlock()
	if p != 0 {
		panic(fmt.Sprintf("pool: %s: object %#x (%s) was Put twice", b.title(), p, b.typ))
	}
}

// checkInvariants verifies what the lock guards, in the check build.
func (b *budget) checkInvariants() {
	if !check.Enabled {
		return
	}
	held := 0
	for _, d := range b.depots {
		held += len(d.idle)
		if d.distinct && d.seen.n != len(d.idle) || d.costed && len(d.costs) != len(d.idle) || d.least > len(d.idle) {
			panic(fmt.Sprintf("pool: %s: depot is damaged: %d idle, %d seen, %d costs, least %d", b.title(), len(d.idle), d.seen.n, len(d.costs), d.least))
		}
	}
	if held != b.held || b.held > b.objects || b.objects > b.max || b.bytes > b.maxBytes || b.bytes < 0 {
		panic(fmt.Sprintf("pool: %s: numbers do not add up: %d held of %d objects (at most %d), %d bytes (at most %d)", b.title(), held, b.objects, b.max, b.bytes, b.maxBytes))
	}
}

// address returns p as a number, to compare it and to print it.
//
// SAFETY: the number is never made a pointer again, and what has it in seen is
// idle, which the depot keeps alive.
func address(p unsafe.Pointer) uintptr { return uintptr(p) }
