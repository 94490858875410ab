package slab

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/magazine"
)

// A depot keeps the magazines that no P has: full ones, for whoever runs out of
// objects, and a few empty ones. All of it is under the cache's lock.
type depot struct {
	full    []tagged           // the last one is the next to go
	empty   *magazine.Magazine // list
	nempty  int
	low     int // the least of len(full) since it was last set to it
	objects int // in the full ones
	room    int // the most that len(full) may be

	// tags has the magazines that are in the depot, or about to be, by a number
	// that each of their objects has for its state. Numbers are given out in
	// turn, so that one which an object still has from the last time is seldom
	// that of another magazine. Entry 0 is not used. They are set without the
	// lock and cleared under it.
	tags []atomic.Pointer[magazine.Magazine]
	turn atomic.Uint32
}

// A tagged is a magazine with its tag.
type tagged struct {
	*magazine.Magazine
	tag int
}

// tagsFor returns the tags for a depot with so much room: four times as many.
func tagsFor(room int) []atomic.Pointer[magazine.Magazine] {
	return make([]atomic.Pointer[magazine.Magazine], min(4*room, free))
}

// tag gives m a tag. At most half of them are those of magazines in the depot.
// Should the others be in use, those who have them need nothing but the lock to
// give them back.
func (d *depot) tag(m *magazine.Magazine) int {
	for {
		t := 1 + int(d.turn.Add(1)%uint32(len(d.tags)-1))
		if d.tags[t].CompareAndSwap(nil, m) {
			return t
		}
	}
}

// depotRoom is how many full magazines of bytes each a depot keeps: enough for
// each P to bring one and fetch one, and some in between, up to half a megabyte,
// for those who free and those who allocate are not always in step. What comes on
// top goes to the slabs, so that they can empty out. (GOMAXPROCS takes a lock of
// the scheduler's, so the answer is kept.)
func depotRoom(bytes int) int {
	return 2*runtime.GOMAXPROCS(0) + min(512<<10/bytes, 32)
}

// emptyRoom is how many empty magazines a depot keeps: 32 KiB of them, so that a
// program which now frees and now allocates does not make new ones each time.
const emptyRoom = 64

// takeFull returns a magazine with objects, or nil.
func (d *depot) takeFull() *magazine.Magazine {
	n := len(d.full) - 1
	if n < 0 {
		return nil
	}
	m := d.full[n]
	d.full[n] = tagged{}
	d.full = d.full[:n]
	d.tags[m.tag].Store(nil)
	d.objects -= m.Len()
	d.low = min(d.low, n)
	return m.Magazine
}

// addFull takes a magazine with objects, and with a tag.
func (d *depot) addFull(m *magazine.Magazine, tag int) {
	d.full = append(d.full, tagged{m, tag})
	d.objects += m.Len()
}

// takeEmpty returns a magazine without objects.
func (d *depot) takeEmpty(limit int) *magazine.Magazine {
	m := d.empty
	if m == nil {
		return magazine.New(limit)
	}
	d.empty, m.Next = m.Next, nil
	d.nempty--
	return m
}

// addEmpty takes a magazine without objects, unless there are enough.
func (d *depot) addEmpty(m *magazine.Magazine) {
	if d.nempty >= emptyRoom {
		return
	}
	d.empty, m.Next = m, d.empty
	d.nempty++
}

// deposit takes a magazine that leaves a cell into the depot. Here is where
// mistakes are found: each object must be one of this cache's and be out. Those
// that are not are left out, and the result says what the first one is; the
// magazine is kept all the same.
func (c *core) deposit(m *magazine.Magazine) (bad string) {
	var wrong [magazine.Rounds]bool
	nwrong := 0
	tag := 0
	if m.Len() > 0 {
		tag = c.depot.tag(m)
	}
	for k, p := range m.Objects() {
		if magazine.Race {
			magazine.Acquire(p)
		}
		s, i := c.slabs.find(p)
		if s != nil && !c.isIn(m, tag, k, s, i) {
			s.set(i, tag)
			continue
		}
		wrong[k] = true
		if nwrong++; nwrong == 1 {
			bad = c.complain(s, p)
		}
	}
	c.release(-nwrong) // Free has counted them

	c.mu.Lock()
	defer c.mu.Unlock()
	if nwrong > 0 {
		m.Remove(&wrong)
		c.bad += uint64(nwrong)
	}
	pops, pushes := m.Counts()
	c.allocs += uint64(pops)
	c.frees += uint64(pushes)
	if bad == "" {
		bad, c.misuse = c.misuse, ""
	}
	if m.Len() > 0 && len(c.depot.full) < c.depot.room {
		c.depot.addFull(m, tag)
	} else {
		gccycle.Check() // there is more than needed
		c.depot.tags[tag].Store(nil)
		c.drain(m)
		c.depot.addEmpty(m)
	}
	c.checkInvariants()
	return bad
}

// isIn reports whether object k of magazine m, which is on its way into the depot
// with the given tag, and is slot i of s, is there or in its slab already.
func (c *core) isIn(m *magazine.Magazine, tag, k int, s *slab, i int) bool {
	switch t := s.tag(i); {
	case t == out:
		return false
	case t == free:
		return true
	case t == tag: // from a moment ago, or by chance from long ago
		return slices.Contains(m.Objects()[:k], m.Objects()[k])
	case c.depot.tags[t].Load() == nil:
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds(s, i, m.Objects()[k])
}

// holds reports whether the object p, which is slot i of s, is free, in the depot,
// or on its way there. The lock is held.
func (c *core) holds(s *slab, i int, p unsafe.Pointer) bool {
	switch t := s.tag(i); t {
	case out:
		return false
	case free:
		return true
	default:
		m := c.depot.tags[t].Load()
		return m != nil && slices.Contains(m.Objects(), p)
	}
}

// complain says what is wrong with an object that Free took. Its slab is nil if
// it is not this cache's.
func (c *core) complain(s *slab, p unsafe.Pointer) string {
	if s == nil {
		return fmt.Sprintf("slab: Free of *%s %#x, which is no object of %s", c.typ, uintptr(p), c.title())
	}
	return fmt.Sprintf("slab: second Free of *%s %#x in %s", c.typ, uintptr(p), c.title())
}

// drain moves the objects in m, which were found right, to their slabs. The lock
// is held.
func (c *core) drain(m *magazine.Magazine) {
	for p := m.Take(); p != nil; p = m.Take() {
		if s, i := c.slabs.find(p); s != nil && !s.isFree(i) {
			c.slabs.put(s, i)
		} else {
			c.drop(s, p)
		}
	}
}

// drop leaves out an object that came to the depot twice, because two goroutines
// freed it at the same moment and both of them found it out. The lock is held.
func (c *core) drop(s *slab, p unsafe.Pointer) {
	c.bad++
	c.release(-1)
	c.misuse = c.complain(s, p)
}
