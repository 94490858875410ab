package slab

import (
	"fmt"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
)

// CheckAtRest looks at everything in a cache that nobody uses: each object is in
// one place, each slot in the state that this place asks for, and the numbers of
// s add up. A step after a garbage collection may be under way and have
// magazines in its hands; then it finds something wrong, and nothing a moment
// later. So it has no slab printed, which the race detector would see.
func CheckAtRest[T any](c *Cache[T], s Stats) error { return c.core.checkAtRest(s) }

//go:norace
func (c *core) checkAtRest(st Stats) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := c.slabs.damage(); text != "" {
		return fmt.Errorf("%s", text)
	}
	if text := c.depot.damage(); text != "" {
		return fmt.Errorf("depot: %s", text)
	}
	if st.InUse != int(st.Hits+st.Misses-st.Frees) || st.InUse < 0 {
		return fmt.Errorf("%d active of %d hits, %d misses, %d frees", st.InUse, st.Hits, st.Misses, st.Frees)
	}
	if live := c.live.Load(); c.cap != 0 && int(live) != st.InUse {
		return fmt.Errorf("%d active, %d of the capacity taken", st.InUse, live)
	}
	if c.size == 0 {
		return nil
	}

	var cells, depot []*magazine.Magazine
	c.set.Walk(func(m *magazine.Magazine) { cells = append(cells, m) })
	for _, m := range c.depot.full {
		depot = append(depot, m.Magazine)
	}
	seen := map[unsafe.Pointer]bool{}
	const cached, kept = 0, 1
	var in [2]int // objects in cells and in the depot
	for where, list := range [][]*magazine.Magazine{cached: cells, kept: depot} {
		for _, m := range list {
			for _, p := range m.Objects() {
				s, i := c.slabs.find(p)
				if s == nil || seen[p] || s.isFree(i) || c.holds(s, i, p) != (where == kept) {
					return fmt.Errorf("object %#x in a magazine, of the depot: %v, seen before: %v, in slot %d", p, where == kept, seen[p], i)
				}
				seen[p] = true
				in[where]++
			}
		}
	}

	nfree, active := 0, 0
	for _, s := range c.slabs.all {
		for i := range s.state {
			if s.isFree(i) != (s.tag(i) == free) {
				return fmt.Errorf("slot %d of slab %#x: its tag says another thing than its bit", i, s.base)
			}
		}
		nfree += s.nfree
		if s.nfree < c.slabs.n {
			active++
		}
	}
	objects := len(c.slabs.all) * c.slabs.n
	if st.Objects != objects || st.Cached != in[cached]+c.watch.Waiting() || st.Depot != in[kept] || st.Objects != st.InUse+st.Cached+st.Depot+nfree ||
		st.Objects != st.Slabs*st.PerSlab || st.Bytes != st.Objects*st.ObjectSize || st.SlabsInUse != active ||
		st.Magazines != len(cells)+len(c.depot.full)+c.depot.nempty {
		return fmt.Errorf("%d free, %v in magazines, but %+v", nfree, in, st)
	}
	return nil
}

// Limit returns how many objects a magazine of the cache takes.
func Limit[T any](c *Cache[T]) int { return c.core.limit }

// SlabBytes returns the bytes of a slab.
func SlabBytes[T any](c *Cache[T]) int { return c.core.slabs.bytes() }

// FreeUnseen frees objects in a magazine of their own that goes to the depot,
// where they are found out, whatever they are. So it is if another goroutine
// frees them at the same moment.
func FreeUnseen[T any](c *Cache[T], ps []*T) {
	m := magazine.New(len(ps))
	for _, p := range ps {
		s, i := c.core.slabs.find(unsafe.Pointer(p))
		s.set(i, out)
		m.Add(unsafe.Pointer(p))
	}
	m.Count(0, len(ps))
	c.core.release(len(ps))
	if bad := c.core.deposit(m); bad != "" {
		panic(bad)
	}
}

// SetTurn makes the next magazine that goes to the depot that of the given turn.
func SetTurn[T any](c *Cache[T], turn uint32) { c.core.depot.turn.Store(turn - 1) }

// Slabs are the slabs of a cache, to be tested alone.
type Slabs struct{ slabs }

// NewSlabs returns slabs for objects of size bytes, with pointers or without.
func NewSlabs(size uintptr, pointers bool) *Slabs { return &Slabs{newSlabs(size, pointers)} }

// PerSlab returns how many objects a slab has.
func (s *Slabs) PerSlab() int { return s.n }

// Bytes returns the bytes of a slab.
func (s *Slabs) Bytes() uintptr { return uintptr(s.slabs.bytes()) }

// Slot returns the number of the object that is off bytes from the start of a
// slab, and whether it begins there.
func (s *Slabs) Slot(off uintptr) (i int, start bool) {
	i = s.slot(off)
	return i, uintptr(i)*s.size == off
}

// An Index is an index, to be tested alone, of made-up slabs.
type Index struct{ index }

// A Slab is what an Index finds.
type Slab = slab

// NewIndex returns an index of slabs of so many bytes.
func NewIndex(bytes uintptr) *Index { return &Index{newIndex(bytes)} }

// Add adds a slab that begins at base.
func (x *Index) Add(base uintptr) *Slab {
	s := &slab{base: base}
	x.add(s)
	return s
}

// Remove removes what Add returned.
func (x *Index) Remove(s *Slab) { x.remove(s) }

// Find returns the slab that p lies in, or nil.
func (x *Index) Find(p uintptr) *Slab { return x.find(p) }

// Entries returns how many entries are alive, used, and there.
func (x *Index) Entries() (live, used, all int) {
	if t := x.table.Load(); t != nil {
		all = len(*t)
	}
	return x.live, x.used, all
}

// Home returns the place in a table of n where the search for p begins.
func (x *Index) Home(p uintptr, n int) int { return x.hash(p>>x.shift+1, n) }

// Hooks returns why fast paths of c are left out.
func Hooks[T any](c *Cache[T]) uint32 { return c.core.hooks.Load() }
