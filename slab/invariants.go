package slab

import (
	"fmt"
	"math/bits"

	"github.com/haven-mem/haven/internal/check"
)

// checkInvariants verifies what holds whenever nobody has the lock of the cache,
// in the check build only. It is called with the lock, after each change. What
// goroutines do without it meanwhile, to objects and magazines of their own, does
// not matter here.
func (c *core) checkInvariants() {
	if !check.Enabled {
		return
	}
	// Large caches less often: looking at all slabs after each change is quadratic.
	if c.changes++; c.changes%(1+len(c.slabs.all)/16) != 0 {
		return
	}
	if text := c.slabs.damage(); text != "" {
		panic("slab: " + c.title() + " is damaged: " + text)
	}
	if text := c.depot.damage(); text != "" {
		panic("slab: " + c.title() + " is damaged: depot: " + text)
	}
}

// damage says what is wrong with the slabs.
func (c *slabs) damage() string {
	listed, blocks := 0, 0
	for b := range c.lists {
		if c.lists[b] != nil != (c.mask&(1<<b) != 0) {
			return fmt.Sprintf("list %d and mask %#b", b, c.mask)
		}
		var prev *slab
		for s := c.lists[b]; s != nil; prev, s = s, s.next {
			if listed++; s.bucket != b || s.prev != prev || listed > len(c.all) {
				return fmt.Sprintf("slab %#x of list %d in list %d", s.base, s.bucket, b)
			}
			if b == empty {
				blocks++
			}
		}
	}
	if c.nempty != blocks || c.lowEmpty > c.nempty {
		return fmt.Sprintf("%d slabs in the list of empty ones, counted %d, least %d", blocks, c.nempty, c.lowEmpty)
	}
	blocks = 0
	for pos, s := range c.all {
		free := 0
		for w, word := range s.free {
			free += bits.OnesCount64(word)
			if rest := c.n - 64*w; rest < 64 && word>>rest != 0 {
				return fmt.Sprintf("slab %#x of %d objects has free ones beyond", s.base, c.n)
			}
		}
		bucket := full
		if free > 0 {
			bucket = free * empty / c.n
			listed--
		}
		if s.pos != pos || s.nfree != free || s.bucket != bucket || uintptr(s.mem) != s.base {
			return fmt.Sprintf("slab %#x with memory at %#x, number %d as %d, %d free as %d, in list %d", s.base, s.mem, pos, s.pos, free, s.nfree, s.bucket)
		}
		if c.index.find(s.base) != s || c.index.find(s.base+c.index.bytes-1) != s {
			return fmt.Sprintf("slab %#x is not in the index", s.base)
		}
		first, last := c.index.blocks(s)
		blocks += int(last-first) + 1
	}
	if listed != 0 {
		return fmt.Sprintf("%d slabs more in lists than have free objects", listed)
	}
	if t := c.index.table.Load(); c.index.live != blocks || t != nil && (2*c.index.used > len(*t) || c.index.used < blocks) {
		return fmt.Sprintf("index with %d entries for %d blocks, %d used", c.index.live, blocks, c.index.used)
	}
	return ""
}

// damage says what is wrong with the depot.
func (d *depot) damage() string {
	nempty, objects, tags := 0, 0, 0
	for _, m := range d.full {
		if m.Len() == 0 || d.tags[m.tag].Load() != m.Magazine {
			return fmt.Sprintf("a full magazine with %d objects and tag %d", m.Len(), m.tag)
		}
		objects += m.Len()
	}
	for i := range d.tags {
		if d.tags[i].Load() != nil {
			tags++
		}
	}
	for m := d.empty; m != nil && nempty <= d.nempty; m = m.Next {
		if m.Len() != 0 {
			return "an empty magazine with objects"
		}
		nempty++
	}
	// Others may be on their way here with a tag.
	if tags < len(d.full) || nempty != d.nempty || objects != d.objects || d.low > len(d.full) {
		return fmt.Sprintf("%d full magazines with %d tags, %d empty ones as %d, %d objects as %d, least %d", len(d.full), tags, nempty, d.nempty, objects, d.objects, d.low)
	}
	return ""
}
