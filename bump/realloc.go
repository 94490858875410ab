package bump

import (
	"fmt"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Realloc makes the old bytes at p into size bytes and returns where they are.
// What is added is zero. It shrinks, and grows, in place where p lies in the
// latest allocation made by Alloc, MakeSlice, String, Append or Realloc and
// there is room behind it: what else the latest allocation holds after p+old is
// then part of the growth, and becomes zero. Otherwise it allocates and copies
// exactly the old bytes; those at p remain as they are. [New]'s objects come
// from the other end of the chunk and never grow in place, nor do they stand in
// the way of what does. What is empty, old being 0, grows in place only if
// nothing lies behind it.
//
// A nil p with old of 0 makes Realloc an [Arena.Alloc]. It panics if align is
// not a power of two of at most [MaxAlign], if size exceeds the address space,
// if p is nil but old is not 0, if a chunk of the arena ends before p+old, and
// after Free.
func (a *Arena) Realloc(p unsafe.Pointer, old, size, align uintptr) unsafe.Pointer {
	a.checkUsable("Realloc")
	checkAlign("Realloc", align)
	checkSize("Realloc", size)
	if p == nil {
		if old != 0 {
			panic(fmt.Sprintf("bump: Realloc of %d bytes at nil", old))
		}
		return a.Alloc(size, align)
	}
	a.checkExtent(p, old)
	if check.Enabled {
		a.checkAround(p)
	}
	// SAFETY: GC.md fact 13: the address is only looked at.
	if uintptr(p)&(align-1) == 0 && (size <= old || a.extend(p, old, size)) {
		return p
	}
	q := a.Alloc(size, align)
	n := min(old, size)
	// SAFETY: the caller owns old bytes at p, and q has size bytes.
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	if check.Enabled {
		a.abandon(p)
	}
	return q
}

// extend grows the old bytes at p to size bytes in place, if p lies in the
// latest low allocation and they fit.
func (a *Arena) extend(p unsafe.Pointer, old, size uintptr) bool {
	if a.open.data == nil {
		return false
	}
	// SAFETY: GC.md fact 13: addresses of heap memory are compared; off is
	// within the open chunk once it is known to be at most lo.
	off := uintptr(p) - uintptr(a.open.data)
	was := a.end()
	if off < a.last || off > was || old > was-off {
		return false
	}
	if old == 0 && off < was {
		// An empty allocation has the address of the one that came after it.
		return false
	}
	hi := a.hi()
	if size > hi-off || roundUp(off+size+zone)+sanitize.Zone > hi {
		return false
	}
	if sanitize.Poisons {
		a.grant(off, size)
	}
	// What lies between the old end and the cursor was handed out before.
	clear(unsafe.Slice((*byte)(unsafe.Add(p, old)), min(size, was-off)-old))
	if end := off + size; end > was {
		if check.Enabled {
			a.noteGrown(end)
		}
		a.take(a.last, end)
	}
	return true
}

// endsAtCursor reports whether the old bytes at p end where the latest low
// allocation does.
func (a *Arena) endsAtCursor(p unsafe.Pointer, old uintptr) bool {
	// SAFETY: GC.md fact 13: addresses of heap memory are compared.
	return a.open.data != nil && uintptr(p)-uintptr(a.open.data)+old == a.end()
}

// checkExtent panics if p lies in the arena but p+old does not.
func (a *Arena) checkExtent(p unsafe.Pointer, old uintptr) {
	if a.root == nil {
		return
	}
	for i := len(a.root.chunks) - 1; i >= 0; i-- {
		b := &a.root.chunks[i]
		// SAFETY: GC.md fact 13, as in Owns.
		off := uintptr(p) - uintptr(b.data)
		if off > b.size {
			continue
		}
		if old > b.size-off {
			panic(fmt.Sprintf("bump: Realloc: %d bytes at %p, but its chunk ends after %d", old, p, b.size-off))
		}
		return
	}
}
