package sanitize

import "unsafe"

// Poisoned reports whether nobody has a byte, of what p points to or beside it: checkptr
// would mind unsafe.Add.
func Poisoned(p unsafe.Pointer, off int) bool {
	at := uintptr(p) + uintptr(off)
	return poisoned(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
}
