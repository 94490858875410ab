//go:build haven_check || (!race && !(asan && cgo) && !(msan && cgo))

package sanitize

import "unsafe"

const (
	Address = false // built with -asan
	Memory  = false // built with -msan
	Race    = false // built with -race

	Zone = 0 // bytes between pieces of untyped memory
)

func poison(unsafe.Pointer, uintptr)   {}
func unpoison(unsafe.Pointer, uintptr) {}
func poisoned(unsafe.Pointer) bool     { return false }
func wrote(unsafe.Pointer, uintptr)    {}
