// Package words looks at untyped memory as words, for a stress that has to read what
// allocators of package bump hand out as bare pointers.
package words

import "unsafe"

// At returns the n words at p, which must be aligned to 8 bytes and be as long.
func At(p unsafe.Pointer, n int) []uint64 { return unsafe.Slice((*uint64)(p), n) }

// Pointer returns where w begins.
func Pointer(w []uint64) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(w)) }
