//go:build (asan || msan) && cgo && !haven_check

package sanitize

/*
#cgo asan CFLAGS: -DHAVEN_ASAN
#include <stddef.h>
#include <stdint.h>

// The sanitizers' interfaces; the header is not on every system that has the library.
#ifdef HAVEN_ASAN
void __asan_poison_memory_region(void const volatile *p, size_t n);
void __asan_unpoison_memory_region(void const volatile *p, size_t n);
int __asan_address_is_poisoned(void const volatile *p);

static void haven_poison(uintptr_t p, size_t n) { __asan_poison_memory_region((void *)p, n); }
static void haven_unpoison(uintptr_t p, size_t n) { __asan_unpoison_memory_region((void *)p, n); }
static int haven_poisoned(uintptr_t p) { return __asan_address_is_poisoned((void *)p); }
#else
void __msan_poison(void const volatile *p, size_t n);
void __msan_unpoison(void const volatile *p, size_t n);
intptr_t __msan_test_shadow(void const volatile *p, size_t n);

static void haven_poison(uintptr_t p, size_t n) { __msan_poison((void *)p, n); }
static void haven_unpoison(uintptr_t p, size_t n) { __msan_unpoison((void *)p, n); }
static int haven_poisoned(uintptr_t p) { return __msan_test_shadow((void *)p, 1) >= 0; }
#endif
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Zone is how many bytes must lie between two pieces of untyped memory so that
// whoever runs over the end of one by up to so many is found.
const Zone = 8

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
