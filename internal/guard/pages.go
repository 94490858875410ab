//go:build linux || darwin

package guard

import (
	"os"
	"syscall"
	"unsafe"
)

// maxBytes is the size of the largest object or chunk that is guarded.
const maxBytes = 64 << 10

// maxAreas bounds the addresses that are reserved: 70 MB.
const maxAreas = 4 * MaxSlots

// A region is the addresses of all areas, with a page without access in front of
// each, and one behind the last:
//
//	page │ area 0: maxBytes │ page │ area 1 │ … │ page
type region struct {
	mem          []byte
	base         uintptr
	page, stride uintptr
}

// reserve takes the addresses, without access and without memory.
func (r *region) reserve() bool {
	r.page = uintptr(os.Getpagesize())
	r.stride = r.page + (maxBytes+r.page-1)&^(r.page-1)
	mem, err := syscall.Mmap(-1, 0, int(maxAreas*r.stride+r.page), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	// SAFETY: it is not of Go's heap and is never given back.
	r.mem, r.base = mem, uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return true
}

// canOpen is whether areas can be made accessible.
const canOpen = true

// at returns where area i begins.
func (r *region) at(i int) uintptr { return r.base + r.page + uintptr(i)*r.stride }

// open makes the first bytes of area i accessible, in whole pages, and returns them.
// It returns nil if the system refuses.
func (r *region) open(i int, bytes uintptr) []byte {
	from := r.at(i) - r.base
	pages := r.mem[from : from+(bytes+r.page-1)&^(r.page-1)]
	if syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE) != nil {
		return nil
	}
	return pages
}

// shut takes the access to pages of an area away. It reports false if the system
// refuses.
func (r *region) shut(pages []byte) bool {
	return syscall.Mprotect(pages, syscall.PROT_NONE) == nil
}
