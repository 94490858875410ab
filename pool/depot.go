package pool

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/track"
)

// A depot keeps idle objects of one kind: those of a [Pool], or the buffers of one
// size class of a [Bytes]. Each P has two magazines of them; what comes on top is
// a stack, under the budget's lock.
//
// The depot is a stack of objects and not, as in Bonwick's and Adams' paper, one of
// magazines, because each object that comes is entered in seen anyway, bounds and
// the floor are counted in objects, and half-full magazines need no care. To copy
// the pointers of a magazine costs about a nanosecond for each.
//
// SAFETY: all pointers in a depot, and in its magazines, are of one type, since
// only its Pool's or Bytes' Put brings any, and its Get converts them back.
type depot struct {
	// Fast paths read the set. In a costed depot it stays closed, so that they
	// all end up in slow paths, which use the other one.
	set       magazine.Set
	costedSet magazine.Set
	cells     *magazine.Set // the one of the two that is used

	budget   *budget
	size     int  // bytes that an object counts as, unless costed
	most     int  // objects in a magazine, at most
	costed   bool // each object counts as what Cost says
	distinct bool // objects have addresses of their own

	_ [64]byte // what follows changes, and would take the cache line above along

	limit     int  // objects in a magazine
	allowance uint // bytes in a costed magazine

	idle  []unsafe.Pointer // the warmest last
	costs []uint           // of idle, in a costed depot
	bytes int              // that idle counts as
	seen  idleSet
	least int // the shortest that idle was since the last step
	spare *magazine.Magazine

	waits track.Idle // what comes before the magazines in the check build

	counts
	lastOps uint64 // at the last step
}

// counts is what happened to the objects of a depot. The magazines in cells have
// counts of their own.
type counts struct {
	hits, misses, puts                                    uint64
	trimmed                                               uint64
	droppedFull, droppedBytes, droppedPanic, droppedTwice uint64
	droppedWatched                                        uint64
}

// open makes a zero depot ready for objects that count as size bytes.
func (d *depot) open(b *budget, size, most int, costed, distinct bool) {
	d.budget, d.size, d.most, d.costed, d.distinct = b, size, most, costed, distinct
	d.cells = &d.set
	if costed {
		d.cells = &d.costedSet
	}
	d.measure()
}

// measure sets how large magazines are: two for each P must leave half of the
// bounds to the depot, or seven eighths where the bounds are those of many depots.
func (d *depot) measure() {
	b := d.budget
	share := b.share * magazine.Width()
	n := min(d.most, magazine.Rounds, b.max/share)
	if !d.costed {
		n = min(n, b.maxBytes/share/max(d.size, 1))
	}
	allowance := uint(b.maxBytes / share)
	if allowance == 0 {
		n = 0
	}
	if n != d.limit || allowance != d.allowance {
		d.spare = nil // of another size
	}
	d.limit, d.allowance = n, allowance
}

// get returns an idle object: from the P's magazines, or from the depot with a
// magazine of its like. It returns nil, which counts as a miss, if there is none.
func (d *depot) get() unsafe.Pointer {
	if p := d.pop(); p != nil {
		return p
	}
	b := d.budget
	b.mu.Lock()
	b.wake()
	n := len(d.idle)
	if n == 0 {
		d.misses++
		b.left(1)
		b.mu.Unlock()
		gccycle.Check()
		return nil
	}
	p := d.idle[n-1]
	d.take(n - 1)
	d.hits++
	if m := d.fill(); m != nil {
		d.exchange(m)
	}
	d.least = min(d.least, len(d.idle))
	b.checkInvariants()
	b.mu.Unlock()
	return p
}

// unmiss takes back a miss: nobody got an object.
func (d *depot) unmiss() {
	d.budget.mu.Lock()
	d.misses--
	d.budget.away--
	d.budget.mu.Unlock()
}

// put takes an object that counts as cost bytes: into the P's magazines, into an
// empty one that it fetches, or into the depot; or it drops it.
func (d *depot) put(p unsafe.Pointer, cost uint) {
	if d.push(p, cost) {
		return
	}
	b := d.budget
	b.mu.Lock()
	b.wake()
	d.puts++
	if m := d.empty(cost); m != nil {
		if d.costed {
			m.AddCosted(p, cost)
		} else {
			m.Add(p)
		}
		d.exchange(m)
	} else {
		b.away--
		ok, byCount := b.fits(1, int(cost))
		switch {
		case ok, d.distinct && d.seen.has(address(p)):
			d.add(p, cost)
		case byCount:
			d.droppedFull++
		default:
			d.droppedBytes++
		}
	}
	b.unlock()
}

// dropUnless counts an object that is dropped because Reset or Cost did not return,
// unless done is true. (As a method it is deferred in half the time of a closure.)
func (d *depot) dropUnless(done *bool) {
	if *done {
		return
	}
	d.budget.mu.Lock()
	d.puts++
	d.droppedPanic++
	d.budget.away--
	d.budget.mu.Unlock()
}

// enter returns the cell of the P, which the caller must leave, or nil if there
// is none.
func (d *depot) enter() *magazine.Cell {
	pid := magazine.Enter()
	if t := d.cells.Table(); t != nil && t.Has(pid) {
		return t.Cell(pid)
	}
	magazine.Exit()
	return nil
}

// pop takes an object from the P's magazines, or returns nil.
func (d *depot) pop() (p unsafe.Pointer) {
	c := d.enter()
	if c == nil {
		return nil
	}
	switch {
	case d.costed:
		p = c.PopCosted()
	case c.CanPop():
		p = c.Pop()
	default:
		p = c.PopPrev()
	}
	c.Leave()
	return p
}

// push adds an object to the P's magazines, if there is room.
func (d *depot) push(p unsafe.Pointer, cost uint) (ok bool) {
	c := d.enter()
	if c == nil {
		return false
	}
	switch {
	case d.costed:
		ok = c.PushCosted(p, cost)
	case c.CanPush():
		c.Push(p)
		ok = true
	default:
		ok = c.PushPrev(p)
	}
	c.Leave()
	return ok
}

// The functions below are called with the lock held.

// add takes p into the depot. There is room for it.
func (d *depot) add(p unsafe.Pointer, cost uint) {
	b := d.budget
	if d.distinct && !d.seen.add(address(p)) {
		d.droppedTwice++
		b.twice = address(p)
		return
	}
	d.idle = append(d.idle, p)
	if d.costed {
		d.costs = append(d.costs, cost)
	}
	d.bytes += int(cost)
	b.held++
	b.charge(1, int(cost))
}

// take removes the idle objects from number n on, which somebody gets. It returns
// the bytes that they counted as.
func (d *depot) take(n int) (bytes int) {
	bytes = d.release(n, len(d.idle))
	clear(d.idle[n:])
	d.budget.left(len(d.idle) - n)
	d.idle = d.idle[:n]
	if d.costed {
		d.costs = d.costs[:n]
	}
	return bytes
}

// release stops counting the idle objects from..to. It returns the bytes that
// they counted as.
func (d *depot) release(from, to int) (bytes int) {
	if d.distinct {
		for _, p := range d.idle[from:to] {
			d.seen.remove(address(p))
		}
	}
	if d.costed {
		for _, c := range d.costs[from:to] {
			bytes += int(c)
		}
	} else {
		bytes = (to - from) * d.size
	}
	d.bytes -= bytes
	d.budget.held -= to - from
	d.budget.charge(from-to, -bytes)
	return bytes
}

// fill returns a magazine with the warmest of the idle objects, or nil if there
// are none or no room for a magazine.
func (d *depot) fill() *magazine.Magazine {
	n := min(len(d.idle), d.limit)
	if n == 0 {
		return nil
	}
	from := len(d.idle) - n
	bytes := n * d.size
	if d.costed {
		bytes = 0
		from = len(d.idle)
		for n = 0; n < d.limit && from > 0 && d.costs[from-1] <= d.allowance-uint(bytes); n++ {
			from--
			bytes += int(d.costs[from])
		}
		if n == 0 {
			return nil
		}
	}
	// What they counted as is free once they are in the magazine.
	if ok, _ := d.budget.fits(d.limit-n, d.weight()-bytes); !ok {
		return nil
	}
	m := d.fresh()
	for i, p := range d.idle[from:] {
		if d.costed {
			m.AddCosted(p, d.costs[from+i])
		} else {
			m.Add(p)
		}
	}
	d.take(from)
	return m
}

// empty returns a magazine without objects that has room for one which counts as
// cost bytes, or nil if there is no room for a magazine.
func (d *depot) empty(cost uint) *magazine.Magazine {
	if d.limit == 0 || d.costed && cost > d.allowance {
		return nil
	}
	if ok, _ := d.budget.fits(d.limit, d.weight()); !ok {
		return nil
	}
	return d.fresh()
}

// weight returns the bytes that a magazine in a cell counts as.
func (d *depot) weight() int {
	if d.costed {
		return int(d.allowance)
	}
	return d.limit * d.size
}

// fresh returns a magazine without objects.
func (d *depot) fresh() *magazine.Magazine {
	m := d.spare
	switch {
	case m != nil:
		d.spare, m.Next = m.Next, nil
	case d.costed:
		m = magazine.NewCosted(d.limit, d.allowance)
	default:
		m = magazine.New(d.limit)
	}
	return m
}

// exchange gives m to the P and takes in the magazine that leaves it.
func (d *depot) exchange(m *magazine.Magazine) {
	d.budget.charge(d.charged(m))
	c := d.enter()
	for c == nil || c.Gone() {
		if c != nil {
			c.Leave()
		}
		if d.cells.Open() {
			d.measure()
		}
		c = d.enter()
	}
	left := c.Install(m)
	c.Leave()
	if left != nil {
		d.flush(left)
	}
}

// charged returns what a magazine in a cell counts as. Magazines that were made
// before GOMAXPROCS changed may be of another size than those of now.
func (d *depot) charged(m *magazine.Magazine) (objects, bytes int) {
	if d.costed {
		return m.Limit(), int(m.MaxBytes())
	}
	return m.Limit(), m.Limit() * d.size
}

// flush takes in a magazine that left a cell, and its objects.
func (d *depot) flush(m *magazine.Magazine) {
	objects, bytes := d.charged(m)
	d.budget.charge(-objects, -bytes)
	pops, pushes := m.Counts()
	d.hits += uint64(pops)
	d.puts += uint64(pushes)
	d.budget.away -= m.Len()
	for i, p := range m.Objects() {
		cost := uint(d.size)
		if d.costed {
			cost = m.Costs()[i]
		}
		d.add(p, cost)
	}
	m.Empty()
	if m.Limit() == d.limit && (!d.costed || m.MaxBytes() == d.allowance) {
		m.Next, d.spare = d.spare, m
	}
}

// ops returns the number of operations up to now.
func (d *depot) ops() uint64 {
	pops, pushes := d.cells.Ops()
	return d.hits + d.misses + d.puts + pops + pushes
}
