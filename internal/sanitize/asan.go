//go:build asan && cgo && !haven_check

package sanitize

/*
#include <stddef.h>
#include <stdint.h>

// The sanitizer's interface; its header is not on every system that has its library.
void __asan_poison_memory_region(void const volatile *p, size_t n);
void __asan_unpoison_memory_region(void const volatile *p, size_t n);
int __asan_address_is_poisoned(void const volatile *p);

static void haven_poison(uintptr_t p, size_t n) { __asan_poison_memory_region((void *)p, n); }
static void haven_unpoison(uintptr_t p, size_t n) { __asan_unpoison_memory_region((void *)p, n); }
static int haven_poisoned(uintptr_t p) { return __asan_address_is_poisoned((void *)p); }
*/
import "C"

import (
	"runtime"
	"unsafe"
)

const (
	Address = true  // built with -asan
	Memory  = false // built with -msan
	Race    = false // built with -race

	// Zone is how many bytes must lie between two pieces of untyped memory so that
	// whoever runs over the end of one by up to so many is found.
	Zone = 8
)

// SAFETY: GC.md fact 13: heap memory does not move. Addresses are passed as numbers,
// so that cgo does not look at what is there.

func poison(p unsafe.Pointer, n uintptr) {
	C.haven_poison(C.uintptr_t(uintptr(p)), C.size_t(n))
	runtime.KeepAlive(p)
}

func unpoison(p unsafe.Pointer, n uintptr) {
	C.haven_unpoison(C.uintptr_t(uintptr(p)), C.size_t(n))
	runtime.KeepAlive(p)
}

func poisoned(p unsafe.Pointer) bool { return C.haven_poisoned(C.uintptr_t(uintptr(p))) != 0 }

func wrote(unsafe.Pointer, uintptr) {}
