//go:build race && !haven_check

package sanitize

import (
	"runtime"
	"unsafe"
)

const (
	Address = false // built with -asan
	Memory  = false // built with -msan
	Race    = true  // built with -race

	Zone = 0 // bytes between pieces of untyped memory
)

func poison(unsafe.Pointer, uintptr)   {}
func unpoison(unsafe.Pointer, uintptr) {}
func poisoned(unsafe.Pointer) bool     { return false }

func wrote(p unsafe.Pointer, n uintptr) { runtime.RaceWriteRange(p, int(n)) }
