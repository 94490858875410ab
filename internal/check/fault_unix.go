//go:build unix

package check

import (
	"syscall"
	"unsafe"
)

// reserve returns a range of addresses without access: 16 GiB, or 64 MiB where
// addresses have 32 bits, or what a limit of the process leaves of that. It takes no
// memory.
func reserve() (first uintptr, size int) {
	for size = 1 << (26 + 8*(^uint(0)>>63)); size >= 16*stride; size /= 4 {
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err == nil {
			// SAFETY: the range is not of Go's heap and is never given back; its address
			// is only compared, and stored as a number.
			return uintptr(unsafe.Pointer(unsafe.SliceData(b))), size
		}
	}
	return unmapped, unmappedSize
}
