package pool

import (
	"slices"
	"weak"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/outside"
)

// How objects that nobody needs go back to the garbage collector: in steps, one
// after each collection, or one each time the timer fires where Idle is set.
//
// The fewest objects that lay idle in a depot since the last step are those that
// nobody would have missed (the working set of Bonwick's and Adams' depots). Half
// of them go, rounded up, the coldest first, and never more than leave the floor.
//
// The magazines of the Ps are left alone while the depot is in use, since another
// P's cannot be touched. If nothing happened since the last step the cells are
// retired, and their magazines come in: after the next collection or, where a
// timer sets the pace, at once.

// afterGC is called after each garbage collection. Memory near its limit makes
// steps larger: the cells are retired in any case, and three quarters of all that
// is above the floor go.
func (b *budget) afterGC(near bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks.Sample(b.putsNow())
	for _, d := range b.depots {
		if b.pause == 0 && d.quiet() || near || !d.cells.Fits() {
			d.cells.Retire()
		}
		for _, m := range d.cells.Settle() {
			d.flush(m)
		}
	}
	switch {
	case near:
		b.trim(func(d *depot) int { return (3*len(d.idle) + 3) / 4 })
	case b.pause == 0:
		b.trim((*depot).unneeded)
	}
	b.checkInvariants()
}

// arm has tick called after a pause, unless the pool is gone by then. The pool may be of
// use to others than a caller in a bubble of testing/synctest, whose timers end with it.
func (b *budget) arm() {
	b.armed = true
	after := b.after
	if after == nil {
		after = outside.After
	}
	w := weak.Make(b.self)
	after(b.pause, func() {
		if s := w.Value(); s != nil {
			s.b.tick()
		}
	})
}

// tick is a step of the timer. It arms the timer again, unless nothing happened
// since the last one and nothing is left to trim: then there are no cells either,
// so whoever comes next takes a slow path, which arms it.
func (b *budget) tick() {
	b.mu.Lock()
	busy := false
	for _, d := range b.depots {
		quiet := d.quiet()
		if quiet || !d.cells.Fits() {
			d.cells.Retire()
		}
		busy = busy || !quiet
	}
	b.collect()
	defer b.mu.Unlock()
	b.trim((*depot).unneeded)
	for _, d := range b.depots {
		busy = busy || d.ops() != d.lastOps
	}
	if busy || b.held > b.floor {
		b.arm()
	} else {
		b.armed = false
	}
	b.checkInvariants()
}

// shrink drops all idle objects but the floor. It returns how many, and the bytes
// that they counted as.
func (b *budget) shrink() (objects, bytes int) {
	if check.Enabled {
		b.leave()
	}
	b.mu.Lock()
	for _, d := range b.depots {
		d.cells.Retire()
	}
	b.collect()
	objects, bytes = b.trim(func(d *depot) int { return len(d.idle) })
	b.unlock()
	return objects, bytes
}

// collect takes in the magazines of retired cells. It gives the lock up meanwhile,
// for it may have to wait as long as a garbage collection takes.
func (b *budget) collect() {
	retired := make(map[*depot][]*magazine.Table)
	for _, d := range b.depots {
		if tables := d.cells.Retired(); len(tables) > 0 {
			retired[d] = tables
		}
	}
	if len(retired) == 0 {
		return
	}
	b.mu.Unlock()
	magazine.Quiesce()
	b.mu.Lock()
	for d, tables := range retired {
		for _, m := range d.cells.Take(tables) {
			d.flush(m)
		}
	}
}

// trim drops from each depot as many idle objects as want says, but leaves the
// floor, which the smallest objects make up. It begins a new step.
func (b *budget) trim(want func(*depot) int) (objects, bytes int) {
	floor := b.floor
	for _, d := range slices.Backward(b.depots) {
		keep := min(floor, len(d.idle))
		floor -= keep
		n := min(want(d), len(d.idle)-keep)
		objects += n
		bytes += d.drop(n)
		d.least = len(d.idle)
	}
	return objects, bytes
}

// unneeded returns how many idle objects a step should drop.
func (d *depot) unneeded() int { return d.least - d.least/2 }

// quiet reports whether nothing happened since the last call.
func (d *depot) quiet() bool {
	ops := d.ops()
	quiet := ops == d.lastOps
	d.lastOps = ops
	if quiet {
		d.spare = nil
	}
	return quiet
}

// drop lets go of the n coldest idle objects. It returns the bytes that they
// counted as.
func (d *depot) drop(n int) (bytes int) {
	if n == 0 {
		return 0
	}
	bytes = d.release(0, n)
	d.trimmed += uint64(n)
	rest := len(d.idle) - n
	if cap(d.idle) > 64 && rest < cap(d.idle)/4 {
		d.idle = slices.Clone(d.idle[n:])
		if d.costed {
			d.costs = slices.Clone(d.costs[n:])
		}
	} else {
		copy(d.idle, d.idle[n:])
		clear(d.idle[rest:])
		d.idle = d.idle[:rest]
		if d.costed {
			d.costs = d.costs[:copy(d.costs, d.costs[n:])]
		}
	}
	d.seen.fit()
	return bytes
}
