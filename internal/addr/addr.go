// Package addr is the one place where packages that otherwise hold no unsafe
// code look at machine words: the identity of a type, whether a slice or a text lies
// inside a chunk, and a string that shares the bytes of a slice.
//
// Each function is a few instructions long and inlines. The facts it relies on
// are numbered in GC.md.
package addr

import "unsafe"

// TypeWord returns the type word of v: a number that is the same for two
// values exactly when their dynamic types are, except that a plugin or a type
// made by reflection may bring a second word for a type. It is meant as the
// input of a hash: whoever finds an entry by it must still compare types.
func TypeWord(v any) uintptr {
	// SAFETY: GC.md fact 12: an empty interface is two words, the type first.
	// It is read as a pointer because the compiler then finds it in a register
	// (as a number it goes through the stack), and never turned back into one.
	return uintptr(*(*unsafe.Pointer)(unsafe.Pointer(&v)))
}

// Within reports whether the memory of s, up to its capacity, lies inside that
// of chunk. A slice without capacity, or of a type without size, lies nowhere.
func Within[T any](s, chunk []T) bool {
	size := unsafe.Sizeof(*new(T))
	if cap(s) == 0 || size == 0 {
		return false
	}
	// SAFETY: GC.md fact 13: heap memory does not move, and a slice on the
	// stack, which may, is in no chunk whatever its address; both addresses are
	// taken with nothing in between and are only compared.
	p := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	c := uintptr(unsafe.Pointer(unsafe.SliceData(chunk)))
	return p-c < uintptr(len(chunk))*size && uintptr(cap(s))*size <= uintptr(len(chunk))*size-(p-c)
}

// Begins reports whether the memory of s begins inside that of in, up to its length. A slice
// that begins in a chunk lies in it as a whole; and if s begins in a slice, to write s from
// front to back changes elements of that before they are read. A slice of a type without
// size begins nowhere.
func Begins[T any](s, in []T) bool {
	return Offset(First(s), First(in)) < uintptr(len(in))*unsafe.Sizeof(*new(T))
}

// Write copies vs to to, which is as long. A few values are written one by one: what the
// caller has just written value by value the processor has at hand for reads of the same
// size, but not for the wider ones of a copy, which then wait. It inlines.
func Write[T any](to, vs []T) {
	if len(vs) > few || Begins(to, vs) {
		copy(to, vs)
		return
	}
	for i := range to {
		to[i] = vs[i]
	}
}

// few is the most values that Write writes one by one.
const few = 4

// Holds reports whether the bytes of s lie inside the memory of chunk. Those of an
// empty string lie nowhere.
func Holds[T any](chunk []T, s string) bool {
	return Covers(First(chunk), uintptr(len(chunk))*unsafe.Sizeof(*new(T)), s)
}

// Covers is [Holds] for size bytes at p.
func Covers(p *byte, size uintptr, s string) bool {
	// SAFETY: GC.md fact 13, as in Within.
	return len(s) > 0 && uintptr(unsafe.Pointer(unsafe.StringData(s)))-uintptr(unsafe.Pointer(p)) < size
}

// String returns a string that shares the bytes of b. The caller promises not
// to change them for as long as the string's owner may read it.
func String(b []byte) string {
	// SAFETY: GC.md fact 14: the string keeps the chunk of b alive like the
	// slice does; whoever reuses the chunk changes the text, never its length.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Data returns where the memory of the slice begins that v holds.
func Data(v any) unsafe.Pointer {
	// SAFETY: GC.md fact 12: an empty interface is two words, of which the second
	// points to the value where that is more than a pointer; a slice begins with the
	// address of its elements.
	return *(*unsafe.Pointer)((*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1])
}

// Pointer returns the pointer that v holds, or nil if v is nil.
func Pointer(v any) unsafe.Pointer {
	// SAFETY: GC.md fact 12: the second word is the value where that is a pointer.
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1]
}

// Add returns the address of the byte that is n bytes behind p, in the same object.
func Add(p *byte, n int) unsafe.Pointer {
	// SAFETY: GC.md fact 5: the caller says that the object goes on there.
	return unsafe.Add(unsafe.Pointer(p), n)
}

// Size returns the bytes of a T.
func Size[T any]() uintptr { return unsafe.Sizeof(*new(T)) }

// Like returns p as a pointer to a Q, which looks the same in memory.
func Like[Q, P any](p *P) *Q {
	// SAFETY: the first of the patterns of unsafe.Pointer: the caller says that the types
	// have the same layout, pointers at the same places included.
	return (*Q)(unsafe.Pointer(p))
}

// Before returns the P that lies right before what p points to, in the same object.
func Before[P, T any](p *T) *P {
	// SAFETY: GC.md fact 1: the caller says that the object begins there, or before.
	return (*P)(unsafe.Add(unsafe.Pointer(p), -int(unsafe.Sizeof(*new(P)))))
}

// Offset returns how many bytes p lies behind base, as a number that is large if it
// lies before it.
func Offset(p, base *byte) uintptr {
	// SAFETY: as in Within.
	return uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(base))
}

// First returns the address of the first element of s, as memory of whatever
// type, which is compared and never read. It returns nil if s has no capacity.
func First[T any](s []T) *byte { return Memory(unsafe.Pointer(unsafe.SliceData(s))) }

// Memory is [First] of what p points to, for a weak pointer.
func Memory(p unsafe.Pointer) *byte {
	// SAFETY: GC.md fact 21: a weak pointer is to the object, of whatever type, and
	// nobody reads the byte.
	return (*byte)(p)
}
