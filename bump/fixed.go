package bump

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/sanitize"
)

// ErrExhausted says that a [Fixed] has no room for an allocation.
var ErrExhausted = errors.New("bump: fixed arena exhausted")

// A Fixed is an [Allocator] over a fixed number of bytes, for values without
// pointers: [NewIn] refuses types with pointers. The zero Fixed has no room. It
// is for one goroutine at a time and must not be copied after first use.
type Fixed struct {
	_ noCopy
	fixedShadow
	buf  []uint64 // what gives the memory its alignment
	size uintptr
	off  uintptr
	high uintptr
	ok   map[reflect.Type]bool // types seen to be without pointers
}

// NewFixed returns a Fixed of size bytes. It panics if size is negative or
// exceeds the address space.
func NewFixed(size int) *Fixed {
	if size < 0 {
		panic(fmt.Sprintf("bump: NewFixed(%d): want a number of bytes, 0 or more", size))
	}
	checkSize("NewFixed", uintptr(size))
	f := &Fixed{buf: make([]uint64, (size+7)/8), size: uintptr(size)}
	if sanitize.Poisons {
		sanitize.WithholdAll(f.buf)
	}
	return f
}

// Alloc returns size zero bytes whose address is a multiple of align. It panics
// with [ErrExhausted] if they do not fit, and if align is not a power of two of
// at most [MaxAlign].
func (f *Fixed) Alloc(size, align uintptr) unsafe.Pointer {
	p, err := f.TryAlloc(size, align)
	if err != nil {
		panic(err)
	}
	return p
}

// TryAlloc is [Fixed.Alloc] that returns [ErrExhausted] instead of panicking
// with it. The Fixed stays usable: something smaller may still fit.
func (f *Fixed) TryAlloc(size, align uintptr) (unsafe.Pointer, error) {
	checkAlign("Fixed.Alloc", align)
	if f == nil {
		panic("bump: Alloc on a nil Fixed")
	}
	base := unsafe.Pointer(unsafe.SliceData(f.buf))
	// SAFETY: GC.md fact 13: the address is only used to find the padding.
	start := f.off + -(uintptr(base)+f.off)&(align-1)
	if len(f.buf) == 0 || start > f.size || size > f.size-start {
		return nil, ErrExhausted
	}
	f.off = start + size
	f.high = max(f.high, f.off)
	if size == 0 {
		// Whatever its place, an empty value needs no memory, and the end of
		// the buffer is no place to point to (GC.md fact 5).
		return aligned(unsafe.Pointer(&empty), align), nil
	}
	if check.Enabled {
		return f.allocChecked(size, align), nil
	}
	// SAFETY: GC.md fact 5: [start, start+size) lies in the buffer and is not
	// empty.
	p := unsafe.Add(base, start)
	if sanitize.Poisons {
		sanitize.Grant(p, size)
	}
	return p, nil
}

// empty is where values without size are, at an address that suits them.
var empty [MaxAlign]byte

// aligned returns the first multiple of align from p on.
func aligned(p unsafe.Pointer, align uintptr) unsafe.Pointer {
	// SAFETY: GC.md fact 13: global variables do not move either; align is at
	// most the size of empty, which p points to.
	return unsafe.Add(p, -uintptr(p)&(align-1))
}

// Reset takes back everything and clears what was used. No pointer into the
// Fixed may be used afterwards. It panics on a nil Fixed.
func (f *Fixed) Reset() {
	if f == nil {
		panic("bump: Reset of a nil Fixed")
	}
	if check.Enabled {
		f.resetChecked()
	}
	clear(f.buf[:(f.off+7)/8])
	if sanitize.Enabled {
		sanitize.RevokeAll(f.buf[:(f.off+7)/8])
	}
	f.off = 0
}

// refusePointers panics if t contains a pointer.
func (f *Fixed) refusePointers(op string, t reflect.Type) {
	if f == nil || f.ok[t] {
		return
	}
	if path, found := layout.FirstPointer(t); found {
		panic(fmt.Sprintf("bump: %s of %v in a Fixed: %s is a pointer, and the garbage collector does not look into a Fixed", op, t, path))
	}
	if f.ok == nil {
		f.ok = make(map[reflect.Type]bool)
	}
	f.ok[t] = true
}

// Stats returns the Fixed's numbers: Reserved is its size.
func (f *Fixed) Stats() Stats {
	if f == nil {
		return Stats{}
	}
	s := Stats{InUse: int(f.off), Reserved: int(f.size), Idle: int(f.size - f.off), HighWater: int(f.high)}
	if f.size > 0 {
		s.Chunks = 1
	}
	return s
}

// String describes the Fixed in one line.
func (f *Fixed) String() string {
	if f == nil {
		return "nil fixed arena"
	}
	return fmt.Sprintf("fixed arena: %d of %d bytes in use", f.off, f.size)
}
