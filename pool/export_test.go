package pool

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/track"
)

// What tests do to the inside of a pool.
type Budget = budget

func (p *Pool[T]) Budget() *Budget { return &p.core.budget }
func (b *Bytes) Budget() *Budget   { return &b.budget }

// InCell calls f between entering the P's cell and leaving it. A pool without
// cells gets some first.
func (p *Pool[T]) InCell(f func()) {
	c := p.core.depot.enter()
	for c == nil {
		p.Put(new(T))
		c = p.core.depot.enter()
	}
	f()
	c.Leave()
}

// AfterGC is what happens after a garbage collection.
func (b *Budget) AfterGC(near bool) { b.afterGC(near) }

// Unwatch keeps garbage collections from trimming a pool that was not used yet.
func (b *Budget) Unwatch() {
	b.watched = true
	b.self = &self{b}
}

// Retire takes the cells of the Ps out of use.
func (b *Budget) Retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.depots {
		d.cells.Retire()
	}
}

// Settle brings what the Ps have to the depots.
func (b *Budget) Settle() {
	b.mu.Lock()
	for _, d := range b.depots {
		d.cells.Retire()
	}
	b.collect()
	b.checkInvariants()
	b.mu.Unlock()
}

// Locked calls f with the lock held.
func (b *Budget) Locked(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// Fits reports whether there are as many cells as Ps.
func (b *Budget) Fits() bool {
	for _, d := range b.depots {
		if d.cells.Table() == nil || !d.cells.Fits() {
			return false
		}
	}
	return true
}

// SetClock has after called instead of outside.After.
func (b *Budget) SetClock(after func(time.Duration, func())) { b.after = after }

// Stats is what Stats of a pool returns.
func (b *Budget) Stats() Stats { return b.stats() }

// Charged returns what counts against the bounds.
func (b *Budget) Charged() (objects, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.objects, b.bytes
}

// Unlocked reports whether nobody holds the lock.
func (b *Budget) Unlocked() bool {
	if !b.mu.TryLock() {
		return false
	}
	b.mu.Unlock()
	return true
}

// Watched reports whether garbage collections trim the pool.
func (b *Budget) Watched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.watched
}

// Footprint returns the words that the depots have set aside for idle objects.
func (b *Budget) Footprint() (words int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.depots {
		words += cap(d.idle) + cap(d.costs) + len(d.seen.slots)
		for m := d.spare; m != nil; m = m.Next {
			words += int(unsafe.Sizeof(*m) / unsafe.Sizeof(m))
		}
	}
	return words
}

// An IdleSet is a set of addresses.
type IdleSet struct{ s idleSet }

func (s *IdleSet) Add(p uintptr) bool { return s.s.add(p) }
func (s *IdleSet) Remove(p uintptr)   { s.s.remove(p) }
func (s *IdleSet) Fit()               { s.s.fit() }
func (s *IdleSet) Len() int           { return s.s.n }
func (s *IdleSet) Slots() int         { return len(s.s.slots) }

var (
	ClassSize = classSize
	ClassFor  = classFor
	ClassOf   = classOf
)

const (
	NumClasses = numClasses
	Smallest   = smallest
	Largest    = largest
	Rounds     = magazine.Rounds
	Race       = magazine.Race
	Pinned     = magazine.Pinned
	LocalMax   = localMax
)

// Pairs returns how many pairs of magazines a pool has.
func Pairs() int { return magazine.Width() }

// OneP has goroutines run on one P, until the function it returns is called.
func OneP() (back func()) {
	n := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(n) }
}

// Hooked reports whether p marks objects, or has marked one.
func Hooked[T any](p *Pool[T]) bool { return p.core.hooks.Load()&(track.HookOut|track.HookBack) != 0 }
