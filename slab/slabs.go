package slab

import (
	"math/bits"
	"unsafe"

	"github.com/haven-mem/haven/internal/chunk"
)

// A slab is a slice of objects, []T, with the state of each.
type slab struct {
	base uintptr        // address of the first object
	mem  unsafe.Pointer // the same, so that the memory stays

	// state has a word for each slot. It is read and written without a lock, by
	// whoever holds the object: a slot changes hands through a depot or a lock.
	// Two goroutines that free one object at the same moment may both find it
	// out; then it is in the depot twice, and found later.
	state []uint16

	free  []uint64 // bit set: the slot is free. Under the cache's lock, as is the rest
	nfree int

	bucket     int   // which list it is in, or full
	prev, next *slab // in that list
	pos        int   // in slabs.all
}

// The states of a slot, beside the flag built, which is set when Init has built
// the object. Any other number is the tag of the magazine with which the object
// came to the depot last: it is in the depot if that still is, and otherwise out,
// in a magazine of a P or with the user. So nothing is written for the objects of
// a magazine that leaves the depot.
const (
	out   = 0
	free  = 1<<15 - 1
	built = 1 << 15
)

// tag returns the state of slot i without the flag.
func (s *slab) tag(i int) int { return int(s.state[i] &^ built) }

// set changes the state of slot i but for the flag.
func (s *slab) set(i, tag int) { s.state[i] = s.state[i]&built | uint16(tag) }

// isFree reports whether slot i is free. The lock is held.
func (s *slab) isFree(i int) bool { return s.free[i/64]&(1<<(i%64)) != 0 }

// slabs is the memory of a cache: slabs, and which of their slots are free.
//
//	slots of all slabs = out + in the depot + free
//
// where out is what users and the magazines of the Ps have.
//
// Those with free slots are in lists by how many they have, so that the fullest
// is used first and sparse ones have time to empty out. (The idea is Bonwick's,
// and jemalloc's; ordering them exactly would cost more and bring nothing.)
type slabs struct {
	size  uintptr // bytes of an object
	n     int     // objects in a slab
	recip uint64  // ⌈2³²/size⌉, or 0 if there is one object in a slab

	index index
	all   []*slab
	lists [buckets]*slab
	mask  uint32 // bit set: the list is not empty

	nempty   int // slabs in lists[empty]
	lowEmpty int // the least of nempty since it was last set to it
}

const (
	header   = 8        // bytes at the start of a slab with pointers
	headless = 32 << 10 // from this size on there are none

	buckets = 16
	empty   = buckets - 1 // the list of slabs with nothing but free slots
	full    = -1          // in no list
)

// newSlabs returns the slabs for objects of size bytes, which must not be 0, with
// or without pointers.
//
// Small slabs empty out sooner; but sixteen objects should share the work that a
// slab is, unless they are large. The header of slabs with pointers (GC.md fact 2)
// would shift every object by eight bytes: one of 64 would take two lines of the
// processor's cache, and an Alloc and Free a tenth more time. So where objects
// would be aligned without it, their slabs are large enough to have none.
func newSlabs(size uintptr, pointers bool) slabs {
	want := max(8<<10, min(16*size, 64<<10), size)
	switch {
	case pointers && size%16 == 0:
		want = max(want, headless)
	case want < headless:
		want -= header
	}
	usable := chunk.Usable(want)
	if !pointers && usable < headless {
		usable += header
	}
	n := int(usable / size)
	var recip uint64
	if n > 1 {
		recip = (1<<32 + uint64(size) - 1) / uint64(size)
	}
	return slabs{size: size, n: n, recip: recip, index: newIndex(uintptr(n) * size)}
}

// bytes returns the size of a slab.
func (c *slabs) bytes() int { return c.n * int(c.size) }

// find returns the slab and the slot of the object at p. The slab is nil if
// there is none, and also if p points to the inside of an object.
func (c *slabs) find(p unsafe.Pointer) (*slab, int) {
	s := c.index.find(uintptr(p))
	if s == nil {
		return nil, 0
	}
	off := uintptr(p) - s.base
	i := c.slot(off)
	if uintptr(i)*c.size != off {
		return nil, 0
	}
	return s, i
}

// slot returns off / size, rounded down or, if that is no whole number, perhaps
// up, by a multiplication. A slab of more than one object has at most 64 KiB, so
// the error of the reciprocal does not reach the next multiple.
func (c *slabs) slot(off uintptr) int {
	return int(uint64(off) * c.recip >> 32)
}

// at returns the address of slot i of s.
func (c *slabs) at(s *slab, i int) unsafe.Pointer {
	// SAFETY: i is below n, so that the result lies in s (GC.md fact 1).
	return unsafe.Add(s.mem, uintptr(i)*c.size)
}

// add takes a new slab in, whose memory is mem.
func (c *slabs) add(mem unsafe.Pointer) {
	s := &slab{base: uintptr(mem), mem: mem, nfree: c.n, bucket: full, pos: len(c.all)}
	s.state = make([]uint16, c.n)
	for i := range s.state {
		s.state[i] = free
	}
	s.free = make([]uint64, (c.n+63)/64)
	for i := range s.free {
		s.free[i] = ^uint64(0)
	}
	if rest := c.n % 64; rest != 0 {
		s.free[len(s.free)-1] = 1<<rest - 1
	}
	c.all = append(c.all, s)
	c.index.add(s)
	c.file(s)
}

// fullest returns the slab to take objects from, or nil if no slot is free.
func (c *slabs) fullest() *slab {
	if c.mask == 0 {
		return nil
	}
	return c.lists[bits.TrailingZeros32(c.mask)]
}

// take moves up to max objects from s to the function f.
func (c *slabs) take(s *slab, max int, f func(unsafe.Pointer)) {
	for w := range s.free {
		for s.free[w] != 0 {
			if max == 0 {
				c.file(s)
				return
			}
			max--
			i := w*64 + bits.TrailingZeros64(s.free[w])
			s.free[w] &= s.free[w] - 1
			s.set(i, out)
			s.nfree--
			f(c.at(s, i))
		}
	}
	c.file(s)
}

// put frees slot i of s.
func (c *slabs) put(s *slab, i int) {
	s.set(i, free)
	s.free[i/64] |= 1 << (i % 64)
	s.nfree++
	c.file(s)
}

// file puts s into the list where it belongs.
func (c *slabs) file(s *slab) {
	to := full
	if s.nfree > 0 {
		to = s.nfree * empty / c.n
	}
	if to == s.bucket {
		return
	}
	c.unlink(s)
	s.bucket = to
	if to == full {
		return
	}
	if to == empty {
		c.nempty++
	}
	s.next = c.lists[to]
	if s.next != nil {
		s.next.prev = s
	}
	c.lists[to] = s
	c.mask |= 1 << to
}

// unlink takes s out of its list.
func (c *slabs) unlink(s *slab) {
	if s.bucket == full {
		return
	}
	if s.bucket == empty {
		c.nempty--
		c.lowEmpty = min(c.lowEmpty, c.nempty)
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else if c.lists[s.bucket] = s.next; s.next == nil {
		c.mask &^= 1 << s.bucket
	}
	s.prev, s.next, s.bucket = nil, nil, full
}

// release gives up to n empty slabs to the garbage collector and returns how
// many there were. It calls last with each while it has its memory still.
func (c *slabs) release(n int, last func(*slab)) int {
	n = min(n, c.nempty)
	for range n {
		s := c.lists[empty]
		last(s)
		c.unlink(s)
		c.index.remove(s)
		end := len(c.all) - 1
		c.all[end].pos = s.pos
		c.all[s.pos] = c.all[end]
		c.all[end] = nil
		c.all = c.all[:end]
		s.mem = nil
	}
	return n
}
