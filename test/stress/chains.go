package stress

import (
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A chain is cells that refer to each other, all in one memory. What they contain
// follows from the chain's seed and from how far a cell is from the end.
type chain[T any] struct {
	head  *T
	seed  uint64
	n     int
	home  home
	level int // of the home's marks, when the last cell was added
}

// seedOf returns the seed of cell i. The last cell is 0.
func (c *chain[T]) seedOf(i int) uint64 { return mix(c.seed + uint64(i)) }

// verify reads the whole chain. It uses no worker, so that any goroutine may.
func verify[T any, P shape[T]](c *chain[T]) {
	p := P(c.head)
	for i := c.n - 1; i >= 0; i-- {
		if p == nil {
			fail("%s: ends before cell %d", describe[T](c), i)
		}
		verifyCell(c, p, i)
		p = *p.link()
	}
	if p != nil {
		fail("%s: goes on behind its end, at %p", describe[T](c), p)
	}
}

func verifyCell[T any, P shape[T]](c *chain[T], p P, i int) {
	seed := c.seedOf(i)
	words := p.body()
	if differs(words, seed) >= 0 {
		mustBeContent(words, seed, func() string { return fmt.Sprintf("%s, cell %d", describe[T](c), i) })
	}
	if held := p.held(); held != nil && (*held != nil || stamped(seed)) {
		mustBeStamp(*held, seed, func() string { return fmt.Sprintf("%s, cell %d", describe[T](c), i) })
	}
}

func describe[T any](c *chain[T]) string {
	return fmt.Sprintf("chain of %d %v in %s", c.n, reflect.TypeFor[T](), c.home)
}

// A set is the chains of one shape that a worker has, and the memories of that shape
// which are its alone.
type set[T any, P shape[T]] struct {
	*market[T]
	w     *worker
	name  string
	most  int // cells of an ordinary chain
	slots [32]chain[T]
	lane  arena.Lane[T]
	local slab.Local[T]
	spare *pool.Local[T]
	batch [64]*T
}

func newSet[T any, P shape[T]](w *worker, name string, most int, m *market[T]) *set[T, P] {
	return &set[T, P]{market: m, w: w, name: name, most: most,
		spare: pool.NewLocal[T](nil, pool.LocalConfig[T]{Reset: func(p *T) { *p = *new(T) }})}
}

// step does something with one of the chains.
func (s *set[T, P]) step() {
	w := s.w
	i := w.below(len(s.slots))
	c := &s.slots[i]
	if c.head == nil {
		if w.oneIn(4) && s.receive(c) {
			w.note("receive", s.name, i, c.home, c.n)
			return
		}
		n := 1 + w.below(s.most)
		if w.oneIn(400) {
			n = 200 + w.below(1800)
		}
		*c = chain[T]{seed: w.next(), home: w.anyHome()}
		w.note("make", s.name, i, c.home, n)
		s.grow(c, n)
		return
	}
	switch k := w.below(16); {
	case k < 5:
		w.note("verify", s.name, i, c.home, c.n)
		s.read(c)
	case k < 8:
		n := 1 + w.below(8)
		if c.n >= 2*s.most {
			n = 1
		}
		w.note("grow", s.name, i, c.home, n)
		s.grow(c, n)
	case k < 10:
		n := 1 + w.below(c.n)
		w.note("shrink", s.name, i, c.home, n)
		s.shrink(c, n)
	case k < 13:
		to := w.anyHome()
		w.note("move to "+to.String(), s.name, i, c.home, c.n)
		s.move(c, to)
	case k < 14:
		w.note("send", s.name, i, c.home, c.n)
		s.send(c)
	case k < 15:
		w.note("free", s.name, i, c.home, c.n)
		s.shrink(c, c.n)
	default:
		w.note("lend", s.name, i, c.home, c.n)
		if c.home.lends() {
			lent := *c
			w.lend(func() int { verify[T, P](&lent); return lent.n })
		}
	}
}

func (s *set[T, P]) read(c *chain[T]) {
	verify[T, P](c)
	s.w.ops += int64(c.n)
}

// add puts a new cell in front.
func (s *set[T, P]) add(c *chain[T], p P) {
	words := p.body()
	if dirty(words) >= 0 {
		mustBeZero(words, func() string { return fmt.Sprintf("a new cell for a %s", describe[T](c)) })
	}
	held := p.held()
	if *p.link() != nil || held != nil && *held != nil {
		fail("a new cell at %p for a %s has a pointer that is not nil", p, describe[T](c))
	}
	seed := c.seedOf(c.n)
	fill(words, seed)
	*p.link() = c.head
	if held != nil && stamped(seed) {
		*held = s.w.stamp(c.home, seed)
	}
	c.head = p
	c.n++
	s.w.ops++
}

// grow adds up to n cells: less if a capacity or limit is reached.
func (s *set[T, P]) grow(c *chain[T], n int) {
	c.level = s.w.level(c.home)
	if c.home == inCache && n > 1 && s.w.oneIn(2) {
		s.growByBatch(c, min(n, len(s.batch)))
	} else {
		for ; n > 0; n-- {
			p := s.alloc(c.home)
			if p == nil {
				break
			}
			s.add(c, p)
		}
	}
	if c.head == nil {
		*c = chain[T]{}
	}
}

func (s *set[T, P]) growByBatch(c *chain[T], n int) {
	if s.w.oneIn(4) {
		r, err := s.cache.Reserve(n)
		if err != nil {
			mustBeFull(err)
			return
		}
		for range n - s.w.below(2) {
			s.add(c, r.Take())
		}
		r.Close()
		return
	}
	if err := s.cache.AllocBatch(s.batch[:n]); err != nil {
		mustBeFull(err)
		return
	}
	for i, p := range s.batch[:n] {
		s.add(c, p)
		s.batch[i] = nil
	}
}

// shrink takes n cells off the front and gives them back.
func (s *set[T, P]) shrink(c *chain[T], n int) {
	batch := c.home == inCache && s.w.oneIn(2)
	queued := 0
	for range n {
		p := P(c.head)
		if p == nil {
			fail("%s: is shorter than that", describe[T](c))
		}
		verifyCell(c, p, c.n-1)
		c.head = *p.link()
		c.n--
		if !batch {
			s.free(c.home, p)
			continue
		}
		s.batch[queued] = p
		if queued++; queued == len(s.batch) {
			s.cache.FreeBatch(s.batch[:])
			queued = 0
		}
	}
	s.cache.FreeBatch(s.batch[:queued])
	s.w.ops += int64(n)
	if c.n == 0 {
		if c.head != nil {
			fail("%s: goes on behind its end, at %p", describe[T](c), c.head)
		}
		*c = chain[T]{}
	}
}

// move copies a chain to another memory, cell by cell, and gives back the old one.
func (s *set[T, P]) move(c *chain[T], to home) {
	w := s.w
	d := chain[T]{seed: c.seed, home: to, level: w.level(to)}
	p, end := P(c.head), &d.head
	for i := c.n - 1; i >= 0; i-- {
		verifyCell(c, p, i)
		q := P(s.copyTo(to, p))
		if q == nil {
			s.drop(&d)
			return
		}
		*end = q
		end = q.link()
		*end = nil
		if held := q.held(); held != nil && *held != nil && (to.untyped() || c.home.untyped()) {
			*held = w.stamp(to, c.seedOf(i))
		}
		d.n++
		p = *p.link()
	}
	s.drop(c)
	verify[T, P](&d)
	w.ops += 2 * int64(d.n)
	*c = d
}

// drop gives back the cells of a chain, of which the last ones may be missing, without
// looking at them.
func (s *set[T, P]) drop(c *chain[T]) {
	if c.home.frees() {
		for p := P(c.head); p != nil; {
			next := P(*p.link())
			s.free(c.home, p)
			p = next
		}
	}
	*c = chain[T]{}
}

// send gives a chain to any worker, by way of a memory that all can free to.
func (s *set[T, P]) send(c *chain[T]) {
	if !c.home.shared() {
		to := sharedHomes[s.w.below(len(sharedHomes))]
		if s.move(c, to); c.home != to {
			return
		}
	}
	select {
	case s.mail <- *c:
		*c = chain[T]{}
		s.w.ops++
	default:
	}
}

func (s *set[T, P]) receive(c *chain[T]) bool {
	select {
	case *c = <-s.mail:
		s.read(c)
		return true
	default:
		return false
	}
}

// evict ends the chains in h whose last cell is of a mark's level or above: they are
// verified, and either forgotten or moved away.
func (s *set[T, P]) evict(h home, level int) {
	for i := range s.slots {
		c := &s.slots[i]
		if c.head == nil || c.home != h || c.level < level {
			continue
		}
		if s.w.oneIn(4) {
			if s.move(c, s.w.homeBut(h)); c.home != h {
				continue
			}
		}
		s.read(c)
		s.drop(c)
	}
}

// leave makes the chains of a memory that was left to the garbage collector ordinary
// ones of Go's heap.
func (s *set[T, P]) leave(h home) {
	for i := range s.slots {
		if c := &s.slots[i]; c.home == h {
			c.home, c.level = inHeap, 0
		}
	}
}

// shake uses what the memories of the shape have beside allocating and freeing.
func (s *set[T, P]) shake() {
	switch s.w.below(4) {
	case 0:
		s.w.note("shrink the cache", s.name, 0, inCache, 0)
		s.cache.Trim()
	case 1:
		s.w.note("shrink the pool", s.name, 0, inPool, 0)
		s.pool.Trim()
	case 2:
		s.w.note("shrink the local", s.name, 0, inLocal, 0)
		s.local.Trim()
		if st := s.local.Stats(); st.Objects != st.InUse+st.Cached+st.Resting {
			fail("a Local has %v", st)
		}
	default:
		s.w.note("reset the lane", s.name, 0, inLane, 0)
		s.evict(inLane, 0)
		s.w.settle()
		s.lane.Reset()
		s.w.ops++
	}
}

// end frees everything, and checks what is not shared.
func (s *set[T, P]) end() {
	for i := range s.slots {
		if c := &s.slots[i]; c.head != nil {
			s.shrink(c, c.n)
		}
	}
	if st := s.local.Stats(); st.InUse != 0 || st.Objects != st.Cached+st.Resting {
		fail("all was freed, but the Local has %v", st)
	}
	poolAtRest(s.spare.Stats())
}

// drain frees what is in the mail when all workers have ended.
func (s *set[T, P]) drain() {
	var c chain[T]
	for s.receive(&c) {
		s.shrink(&c, c.n)
	}
}
