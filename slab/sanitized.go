package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer objects that are not in use are withheld: see package
// internal/sanitize. Under the race detector nothing is to be told of what is cleared
// by assigning to it, which the compiler instruments.

// allocGranted is Alloc with -asan and -msan.
func (l *local) allocGranted() unsafe.Pointer {
	p := l.pop()
	sanitize.Grant(p, l.size)
	return p
}
