package slab

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/layout"
)

// An elem is what the common parts of caches, Locals and tables know of the type of
// their objects. Each function with a type parameter is compiled for each type of a
// program, and each method of a type that such a function has as a receiver twice. So
// the generic types of this package have their exported methods and little else; all
// that needs no more than what is here is the same code for all types.
type elem struct {
	typ      reflect.Type
	size     uintptr
	pointers bool // there are some in it; not known if nothing is to be wiped
}

// elemOf returns what is to be known of a type.
func elemOf(typ reflect.Type, wiped bool) elem {
	return elem{typ, typ.Size(), wiped && layout.HasPointers(typ)}
}

// make returns memory for n objects: that of a []T, which the collector scans as such.
func (e *elem) make(n int) unsafe.Pointer {
	return reflect.MakeSlice(reflect.SliceOf(e.typ), n, n).UnsafePointer()
}

// wipe sets the object at p to zero.
func (e *elem) wipe(p unsafe.Pointer) {
	if !e.pointers {
		clear(unsafe.Slice((*byte)(p), e.size))
		return
	}
	// SAFETY: GC.md fact 7: which of the words are pointers the barrier finds in the
	// memory's own bits. A type with pointers has whole words.
	clear(unsafe.Slice((*unsafe.Pointer)(p), e.size/unsafe.Sizeof(p)))
}
