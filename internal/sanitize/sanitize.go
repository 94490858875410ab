package sanitize

import (
	"runtime/debug"
	"unsafe"
)

const (
	// Poisons tells that memory is poisoned: by the address sanitizer or the memory
	// sanitizer.
	Poisons = Address || Memory
	// Enabled tells that there is a sanitizer.
	Enabled = Poisons || Race
)

// Withhold says that nobody has the n bytes at p.
func Withhold(p unsafe.Pointer, n uintptr) {
	if Poisons && n > 0 {
		poison(p, n)
	}
}

// Grant says that somebody has the n bytes at p from now on.
func Grant(p unsafe.Pointer, n uintptr) {
	if Poisons && n > 0 {
		unpoison(p, n)
	}
}

// Revoke says that whoever had the n bytes at p has them no longer.
func Revoke(p unsafe.Pointer, n uintptr) {
	if Race && n > 0 {
		wrote(p, n)
	}
	Withhold(p, n)
}

// MustHave ends the program if nobody has the n bytes at p, which are about to be
// taken back: for the second time, then. The report names one line only, which is
// here, so the stack is printed before.
func MustHave(p unsafe.Pointer, n uintptr) {
	if Poisons && n > 0 && poisoned(p) {
		debug.PrintStack()
		touched = *(*byte)(p)
	}
}

var touched byte

// GrantAll is [Grant] for the elements of s.
func GrantAll[T any](s []T) { Grant(memory(s)) }

// RevokeAll is [Revoke] for the elements of s.
func RevokeAll[T any](s []T) { Revoke(memory(s)) }

// RevokeRange is [Revoke] for the bytes from..to of what p points to.
func RevokeRange(p unsafe.Pointer, from, to uintptr) {
	if from < to {
		// SAFETY: GC.md fact 1: the caller says that they are part of what p
		// points to.
		Revoke(unsafe.Add(p, from), to-from)
	}
}

// memory returns where the elements of s are, and their bytes.
func memory[T any](s []T) (unsafe.Pointer, uintptr) {
	// SAFETY: the elements of a slice lie one behind the other.
	return unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s)) * unsafe.Sizeof(*new(T))
}
