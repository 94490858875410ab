package slab

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// A core is the part of a cache that does not depend on the type of its
// objects.
type core struct {
	// First what the fast path reads; what others write is a cache line away.
	hooks atomic.Uint32 // of package track: why Alloc and Free have more to do
	set   magazine.Set

	name   string
	opened atomic.Bool // what follows is set
	elem
	init, clear func(unsafe.Pointer) // Init and Reset of the Config
	limit       int                  // objects in a magazine
	cap         int64                // 0: none

	live atomic.Int64 // objects allocated, where there is a capacity

	// moving is held while magazines of retired cells are on their way to the
	// depot, so that Stats misses none of them. It comes before mu.
	moving sync.Mutex

	mu     sync.Mutex
	slabs  slabs
	depot  depot
	self   *self
	misuse string // found where nobody could be told
	bad    uint64 // objects that Free took and that were none, or free already

	allocs, frees uint64 // of magazines that are not in cells; allocs without misses
	misses        uint64

	lastOps uint64 // allocs and frees at the last step
	changes int    // of slabs and depot, in the check build

	watch   track.Objects
	guarded track.Guarded
}

// A self stands for a core in weak pointers, which must not refer to a global
// variable before go1.25, as a zero Cache may well be.
type self struct{ c *core }

// title returns what messages call the cache.
func (c *core) title() string { return account.Title("cache", c.name) }

// configure makes a core ready, with settings.
func (c *core) configure(null any, given []Config[object]) {
	conf := config.Optional("slab", "NewCache", given)
	checkCapacity("slab: Config.Capacity", conf.Capacity)
	c.name = conf.Name
	c.cap = int64(conf.Capacity)
	c.init, c.clear = untyped(conf.Init), untyped(conf.Reset)
	if c.cap > 0 || c.init != nil || c.clear != nil {
		c.hooks.Store(track.HookOptions) // Capacity, Init or Reset
	}
	c.ready(null)
}

// ready makes a core ready, once. null is a nil pointer to an object, for its type. This
// and what else the generic methods call does not inline into each of them.
//
//go:noinline
func (c *core) ready(null any) *core {
	if !c.opened.Load() {
		c.open(null)
	}
	return c
}

func (c *core) open(null any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened.Load() {
		return
	}
	defer c.opened.Store(true)
	c.elem = elemOf(reflect.TypeOf(null).Elem(), true)
	c.slabs = newSlabs(max(c.size, 1), c.pointers)
	// Two magazines of each P must not hold more than a megabyte between eight
	// of them.
	c.limit = int(min(magazine.Rounds, max(1, 64<<10/c.slabs.size)))
	c.depot.room = depotRoom(c.limit * int(c.slabs.size))
	c.depot.tags = tagsFor(c.depot.room)
	c.self = &self{c}
	gccycle.Watch(c.self, func(s *self, near gccycle.Pressure) { s.c.step(bool(near)) })
	if c.name != "" {
		caches.Add(c.self)
	}
	c.enroll()
}

// stay reports whether objects stay built: then Init is called when a slot leaves its
// slab for the first time. Of other caches Alloc calls it.
func (c *core) stay() bool { return c.init != nil && c.clear != nil && c.size > 0 }

// take fills dst with objects, at least one: from the P's magazines, and when
// those are empty from one of the depot or of the slabs. It returns how many.
func (c *core) take(dst []unsafe.Pointer) int {
	if c.size == 0 {
		return c.takeUnsized(dst)
	}
	cell := c.enter()
	n := cell.PopN(dst)
	if n == 0 {
		if p := cell.PopPrev(); p != nil {
			dst[0] = p
			n = 1 + cell.PopN(dst[1:])
		}
	}
	cell.Leave()
	if n > 0 {
		return n
	}
	m := c.load()
	for n < len(dst) && m.Len() > 0 {
		dst[n] = m.Take()
		n++
	}
	m.Count(n-1, 0) // load has counted one
	if bad := c.install(m); bad != "" {
		for _, p := range dst[:n] {
			c.giveBack(p)
		}
		panic(bad)
	}
	return n
}

// give takes objects back, at least one: to the P's magazines, and when those
// are full to an empty one of the depot. It returns how many, and what is wrong
// with objects that were there before.
func (c *core) give(src []unsafe.Pointer) (n int, bad string) {
	if c.size == 0 {
		return c.giveUnsized(src)
	}
	cell := c.enter()
	n = cell.PushN(src)
	if n == 0 && cell.PushPrev(src[0]) {
		n = 1 + cell.PushN(src[1:])
	}
	cell.Leave()
	if n > 0 {
		return n, ""
	}
	m := c.emptyMagazine()
	for n < len(src) && m.Len() < m.Limit() {
		m.Add(src[n])
		n++
	}
	m.Count(0, n)
	return n, c.install(m)
}

// Objects without size have one address, so there is nothing to keep. It is
// aligned for all of them (GC.md fact 17).
var nothing atomic.Int64

func (c *core) takeUnsized(dst []unsafe.Pointer) int {
	for i := range dst {
		dst[i] = unsafe.Pointer(&nothing)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.misses += uint64(len(dst))
	return len(dst)
}

func (c *core) giveUnsized(src []unsafe.Pointer) (n int, bad string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.countUnsized(len(src)) > 0 {
		bad = c.complain(nil, src[0])
	}
	return len(src), bad
}

// countUnsized counts n objects without size as freed, and returns how many of
// them were not out. The lock is held.
func (c *core) countUnsized(n int) (wrong int) {
	c.frees += uint64(n)
	if c.frees > c.misses {
		wrong = int(c.frees - c.misses)
		c.frees = c.misses
		c.release(-wrong) // Free counts them
	}
	return wrong
}

// enter returns the cell of the P, which the caller must leave.
func (c *core) enter() *magazine.Cell {
	for {
		pid := magazine.Enter()
		if t := c.set.Table(); t == nil || !t.Has(pid) {
			magazine.Exit()
		} else if cell := t.Cell(pid); cell.Gone() {
			cell.Leave()
		} else {
			return cell
		}
		c.set.Open()
	}
}

// install makes m the magazine of the P and takes the one that leaves it into
// the depot. It returns what is wrong with the objects in that.
func (c *core) install(m *magazine.Magazine) (bad string) {
	if magazine.Race { // of what happened to them on the way here
		for _, p := range m.Objects() {
			magazine.Release(p)
		}
	}
	cell := c.enter()
	m = cell.Install(m)
	cell.Leave()
	if m == nil {
		return ""
	}
	return c.deposit(m)
}

// load returns a magazine with at least one object, from the depot if there is
// one, or else from the slabs.
func (c *core) load() *magazine.Magazine {
	c.mu.Lock()
	c.misses++
	if m := c.depot.takeFull(); m != nil {
		c.mu.Unlock()
		return m
	}
	m := c.depot.takeEmpty(c.limit)
	for c.slabs.mask == 0 {
		c.mu.Unlock()
		gccycle.Check()
		mem := c.make(c.slabs.n) // may have to help the collector
		sanitize.Withhold(mem, uintptr(c.slabs.bytes()))
		c.mu.Lock()
		c.slabs.add(mem)
	}
	for room := c.limit; room > 0 && c.slabs.mask != 0; room = c.limit - m.Len() {
		c.slabs.take(c.slabs.fullest(), room, m.Add)
	}
	c.checkInvariants()
	c.mu.Unlock()
	if c.stay() {
		c.buildAll(m)
	}
	return m
}

// buildAll calls Init for the objects in m it was not called for yet. If it
// does not return, the objects go back.
func (c *core) buildAll(m *magazine.Magazine) {
	var now unsafe.Pointer
	defer func() {
		if now != nil {
			c.wipe(now)
			sanitize.Withhold(now, c.size)
			c.mu.Lock()
			c.misses-- // nobody gets an object
			for p := m.Take(); p != nil; p = m.Take() {
				c.slabs.put(c.slabs.find(p))
			}
			c.depot.addEmpty(m)
			c.checkInvariants()
			c.mu.Unlock()
		}
	}()
	for _, p := range m.Objects() {
		s, i := c.slabs.find(p)
		if s.state[i]&built != 0 {
			continue
		}
		now = p
		sanitize.Grant(p, c.size)
		c.init(p)
		sanitize.Withhold(p, c.size)
		now = nil
		s.state[i] |= built
	}
}

// emptyMagazine returns a magazine to put objects into.
func (c *core) emptyMagazine() *magazine.Magazine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.depot.takeEmpty(c.limit)
}

// giveBack frees an object when something else has gone wrong: it is set to zero
// and goes to its slab, and Init is called for it again. An object that is not
// the cache's or not out goes nowhere: there is a panic under way already.
func (c *core) giveBack(p unsafe.Pointer) {
	c.wipe(p)
	track.Back(p, c.size)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size == 0 {
		c.countUnsized(1)
		return
	}
	c.frees++
	s, i := c.slabs.find(p)
	if s == nil || c.holds(s, i, p) {
		c.bad++
		c.release(-1)
		return
	}
	s.state[i] = out // and not built
	c.slabs.put(s, i)
	c.checkInvariants()
}

// acquire takes n of the capacity, or returns an error that wraps ErrExhausted.
func (c *core) acquire(n int) error {
	if c.cap == 0 {
		return nil
	}
	for {
		live := c.live.Load()
		if int64(n) > c.cap-live {
			return fmt.Errorf("%w: %s, %d of %s in use, %d more wanted", ErrExhausted, c.title(), live, account.Count(c.cap, "object"), n)
		}
		if c.live.CompareAndSwap(live, live+int64(n)) {
			return nil
		}
	}
}

// release gives n back to the capacity.
func (c *core) release(n int) {
	if c.cap != 0 && n != 0 {
		c.live.Add(-int64(n))
	}
}
