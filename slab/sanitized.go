package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer objects that are not in use are withheld: see package
// internal/sanitize. Under the race detector nothing is to be told of what is cleared
// by assigning to it, which the compiler instruments.

// allocGranted is Alloc with -asan and -msan.
func (l *Local[T]) allocGranted() *T {
	p := l.pop()
	sanitize.Grant(unsafe.Pointer(p), unsafe.Sizeof(*p))
	return p
}

// grant and withhold are for the element of a slot. The rest of it is the table's.
func (s *tableSlot[T]) grant()    { sanitize.Grant(unsafe.Pointer(&s.v), unsafe.Sizeof(s.v)) }
func (s *tableSlot[T]) withhold() { sanitize.Withhold(unsafe.Pointer(&s.v), unsafe.Sizeof(s.v)) }
