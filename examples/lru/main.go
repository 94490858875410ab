// Lru is a cache of the values used last. Its entries are linked by handles and
// hold no pointers, so that the garbage collector need not look at them, however
// many there are: with a million entries, this is what it would do in every
// cycle.
package main

import (
	"fmt"

	"github.com/haven-mem/haven/slab"
)

// An entry is one of the list, from the one used last to the oldest.
type entry struct {
	key, value uint64
	next, prev slab.Handle[entry]
}

// A cache keeps up to n values.
type cache struct {
	n           int
	entries     slab.Table[entry]
	index       map[uint64]slab.Handle[entry] // no pointers either
	first, last slab.Handle[entry]
}

func newCache(n int) *cache {
	return &cache{n: n, index: make(map[uint64]slab.Handle[entry])}
}

// get returns the value of a key and makes it the first.
func (c *cache) get(key uint64) (uint64, bool) {
	h, ok := c.index[key]
	if !ok {
		return 0, false
	}
	e, _ := c.entries.Get(h)
	c.unlink(e)
	c.push(h, e)
	return e.value, true
}

// put sets the value of a key, which must be new, and drops the oldest entry if
// there is no room.
func (c *cache) put(key, value uint64) {
	if c.entries.Len() == c.n {
		h := c.last
		e, _ := c.entries.Get(h)
		delete(c.index, e.key)
		c.unlink(e)
		c.entries.Remove(h) // no other handle to it can match again
	}
	h, e := c.entries.Insert(entry{key: key, value: value})
	c.index[key] = h
	c.push(h, e)
}

// push makes e, whose handle is h, the first.
func (c *cache) push(h slab.Handle[entry], e *entry) {
	e.prev, e.next = slab.Handle[entry]{}, c.first
	if first, ok := c.entries.Get(c.first); ok {
		first.prev = h
	} else {
		c.last = h
	}
	c.first = h
}

// unlink takes e out of the list.
func (c *cache) unlink(e *entry) {
	if prev, ok := c.entries.Get(e.prev); ok {
		prev.next = e.next
	} else {
		c.first = e.next
	}
	if next, ok := c.entries.Get(e.next); ok {
		next.prev = e.prev
	} else {
		c.last = e.prev
	}
}

func main() {
	c := newCache(3)
	for key := range uint64(3) {
		c.put(key, key*key)
	}
	c.get(0) // now the first
	oldest := c.last
	c.put(3, 9) // so the oldest has to go
	for key := range uint64(4) {
		value, ok := c.get(key)
		fmt.Println(key, value, ok)
	}
	_, ok := c.entries.Get(oldest)
	fmt.Println("the oldest of before is still there:", ok)
}
