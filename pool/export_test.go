package pool

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
)

// What tests do to the inside of a pool.
type Keeper = keeper

func (p *Pool[T]) Keeper() *Keeper { return &p.core.keeper }
func (b *Bytes) Keeper() *Keeper   { return &b.keeper }

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
func (k *Keeper) AfterGC(near bool) { k.afterGC(near) }

// Unwatch keeps garbage collections from trimming a pool that was not used yet.
func (k *Keeper) Unwatch() {
	k.watched = true
	k.self = &self{k}
}

// Retire takes the cells of the Ps out of use.
func (k *Keeper) Retire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range k.depots {
		d.cells.Retire()
	}
}

// Settle brings what the Ps have to the depots.
func (k *Keeper) Settle() {
	k.mu.Lock()
	for _, d := range k.depots {
		d.cells.Retire()
	}
	k.collect()
	k.checkInvariants()
	k.mu.Unlock()
}

// Locked calls f with the lock held.
func (k *Keeper) Locked(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// Fits reports whether there are as many cells as Ps.
func (k *Keeper) Fits() bool {
	for _, d := range k.depots {
		if d.cells.Table() == nil || !d.cells.Fits() {
			return false
		}
	}
	return true
}

// SetClock has after called instead of outside.After.
func (k *Keeper) SetClock(after func(time.Duration, func())) { k.after = after }

// Stats is what Stats of a pool returns.
func (k *Keeper) Stats() Stats { return k.stats() }

// Charged returns what counts against the bounds.
func (k *Keeper) Charged() (objects, bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.objects, k.bytes
}

// Unlocked reports whether nobody holds the lock.
func (k *Keeper) Unlocked() bool {
	if !k.mu.TryLock() {
		return false
	}
	k.mu.Unlock()
	return true
}

// Watched reports whether garbage collections trim the pool.
func (k *Keeper) Watched() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.watched
}

// Footprint returns the words that the depots have set aside for idle objects.
func (k *Keeper) Footprint() (words int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range k.depots {
		words += cap(d.idle) + cap(d.costs) + len(d.seen.slots)
		for m := d.spare; m != nil; m = m.Next {
			words += int(unsafe.Sizeof(*m) / unsafe.Sizeof(m))
		}
	}
	return words
}

// A Seen is a set of addresses.
type Seen struct{ s seen }

func (s *Seen) Add(p uintptr) bool { return s.s.add(p) }
func (s *Seen) Remove(p uintptr)   { s.s.remove(p) }
func (s *Seen) Fit()               { s.s.fit() }
func (s *Seen) Len() int           { return s.s.n }
func (s *Seen) Slots() int         { return len(s.s.slots) }

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
func Hooked[T any](p *Pool[T]) bool { return p.core.hooks.Load()&(hookGet|hookPut) != 0 }
