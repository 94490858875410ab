package slab

import (
	"math/bits"
	"sync/atomic"
)

// An index finds the slab that an address lies in. It is a hash table with open
// addressing from blocks of addresses, each about as large as a slab, to the
// slabs that overlap them.
//
// It is read without a lock and written under one. A reader may miss what is
// added or removed meanwhile, which is as it should be: the objects that it asks
// for were allocated before, and their slab cannot be removed before they are
// freed.
type index struct {
	shift uint // a block is 1<<shift bytes
	bytes uintptr
	table atomic.Pointer[[]entry]
	used  int // entries that are not zero, the dead ones included
	live  int
}

// An entry is empty (key 0), dead (key gone), or a block and a slab in it. The
// same block may have several entries.
type entry struct {
	key  atomic.Uintptr // block + 1
	slab atomic.Pointer[slab]
}

const gone = ^uintptr(0)

// newIndex returns an index for slabs of so many bytes.
func newIndex(bytes uintptr) index {
	return index{shift: uint(bits.Len(uint(bytes - 1))), bytes: bytes}
}

// find returns the slab that address p lies in, or nil.
func (x *index) find(p uintptr) *slab {
	t := x.table.Load()
	if t == nil {
		return nil
	}
	key := p>>x.shift + 1
	for i := x.hash(key, len(*t)); ; i++ {
		e := &(*t)[i&(len(*t)-1)]
		k := e.key.Load()
		if k == key {
			if s := e.slab.Load(); s != nil && p-s.base < x.bytes {
				return s
			}
		} else if k == 0 {
			return nil
		}
	}
}

// hash returns the place in a table of n entries where the search for key
// begins. Blocks that follow each other get places far apart (Fibonacci
// hashing).
func (x *index) hash(key uintptr, n int) int {
	return int(uint64(key) * 0x9E3779B97F4A7C15 >> (64 - uint(bits.Len(uint(n-1)))) & uint64(n-1))
}

// blocks returns the first and the last key of slab s.
func (x *index) blocks(s *slab) (first, last uintptr) {
	return s.base>>x.shift + 1, (s.base+x.bytes-1)>>x.shift + 1
}

// add enters s.
func (x *index) add(s *slab) {
	// A slab has two blocks, or one. Half of the table stays empty.
	if t := x.table.Load(); t == nil || 2*(x.used+2) > len(*t) {
		x.rehash()
	}
	t := *x.table.Load()
	for key, last := x.blocks(s); key <= last; key++ {
		x.put(t, key, s)
	}
}

func (x *index) put(t []entry, key uintptr, s *slab) {
	for i := x.hash(key, len(t)); ; i++ {
		e := &t[i&(len(t)-1)]
		k := e.key.Load()
		if k != 0 && k != gone {
			continue
		}
		if k == 0 {
			x.used++
		}
		x.live++
		e.slab.Store(s) // before the key, by which readers find it
		e.key.Store(key)
		return
	}
}

// remove takes s out.
func (x *index) remove(s *slab) {
	t := *x.table.Load()
	for key, last := x.blocks(s); key <= last; key++ {
		for i := x.hash(key, len(t)); ; i++ {
			e := &t[i&(len(t)-1)]
			if e.key.Load() == key && e.slab.Load() == s {
				e.key.Store(gone)
				e.slab.Store(nil)
				x.live--
				break
			}
		}
	}
}

// rehash makes a table without dead entries in which there is room for as many
// again as are alive.
func (x *index) rehash() {
	t := make([]entry, 1<<bits.Len(uint(4*(x.live+2)-1)))
	old := x.table.Load()
	x.used, x.live = 0, 0
	if old != nil {
		for i := range *old {
			if k := (*old)[i].key.Load(); k != 0 && k != gone {
				x.put(t, k, (*old)[i].slab.Load())
			}
		}
	}
	x.table.Store(&t)
}
