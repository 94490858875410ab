// Package shape shows how Go's garbage collector sees a type: its size, its
// alignment, and which of its words hold pointers.
//
// Use it to find out whether a type is pointer-free (the collector never looks
// inside such memory, whatever its size), which fields make it scan, and how
// far into a value it has to look. It is meant for tests, tools and start-up
// checks. It is not meant for hot paths, and it says nothing about values:
// two values of one type have one shape.
//
// The bits are those of the masks that the compiler makes for the collector,
// one for each word of the value, first word first:
//
//	int        0        pointer, map, chan, func, unsafe.Pointer   1
//	string     10       the length is no pointer
//	[]T        100      neither are length and capacity
//	any        01       the type word is not collected, the value word is
//	[3]string  101010
//	struct     its fields in order; padding is 0
//
// Structs made by reflect.StructOf differ in one point: reflect marks the type
// word of their interfaces too, which is harmless. Shapes show what the
// compiler would have written.
//
// The command "haven shape" prints the same for types given by name.
package shape

import (
	"fmt"
	"math/bits"
	"reflect"

	"github.com/haven-mem/haven/internal/layout"
)

const wordSize = bits.UintSize / 8

// Shape is the memory layout of one type. It is made by [Of] or [OfType] and
// does not change; it may be copied and used by many goroutines at once. It
// holds no bits: a shape takes memory by the number of types and fields inside
// its type, so that of [1000000]string is as small as that of [2]string.
//
// The zero Shape describes no type: its numbers are 0, Type returns nil, it is
// pointer-free and prints as "invalid".
type Shape struct {
	typ  reflect.Type
	node *layout.Node
}

// Of returns the shape of T, which may be an interface type.
// It costs what [OfType] does.
func Of[T any]() Shape {
	return OfType(reflect.TypeFor[T]())
}

// OfType returns the shape of t. It panics when t is nil, as it is for
// reflect.TypeOf(nil): use [Of] for interface types. The cost is a few
// allocations for each distinct type inside t, about a microsecond for a
// struct of ten fields; nothing is cached.
func OfType(t reflect.Type) Shape {
	if t == nil {
		panic("shape: OfType(nil): there is no type; for an interface type use Of, or reflect.TypeFor")
	}
	return Shape{typ: t, node: layout.Of(t)}
}

// Type returns the type described, nil for the zero Shape.
func (s Shape) Type() reflect.Type { return s.typ }

// Size returns the bytes a value takes, as unsafe.Sizeof does.
func (s Shape) Size() uintptr {
	return uintptr(s.layout().Size)
}

// Align returns the bytes that the address of a variable is a multiple of, as
// unsafe.Alignof does.
func (s Shape) Align() uintptr {
	return uintptr(s.layout().Align)
}

// Words returns the number of words (of 8 bytes, or 4 on 32-bit machines)
// that a value covers, which is the number of pointer bits. A last word
// covered in part counts in full: it is 1 for a bool. It is 0 for types of
// size zero.
func (s Shape) Words() int {
	return int(s.layout().Words())
}

// Pointers returns how many of the words hold pointers. It costs nothing: the
// words are not counted one by one.
func (s Shape) Pointers() int {
	return int(s.layout().Pointers)
}

// PtrBytes returns the bytes from the start of a value to the end of its last
// pointer: what lies behind is never scanned. It is 0 when there is no
// pointer. Fields without pointers are best put last for this reason.
func (s Shape) PtrBytes() uintptr {
	return uintptr(s.layout().PtrBytes)
}

// PointerFree reports whether no word holds a pointer, so that the collector
// never scans memory of this type.
func (s Shape) PointerFree() bool {
	return s.layout().Pointers == 0
}

// Pointer reports whether word i of a value, counted from 0, holds a pointer.
// It panics when i is negative or not below [Shape.Words]. The cost grows with
// the nesting of the type and the fields passed, not with i.
func (s Shape) Pointer(i int) bool {
	if i < 0 || i >= s.Words() {
		panic(fmt.Sprintf("shape: Pointer(%d) of %s, which has %d words of %d bytes", i, s.name(), s.Words(), wordSize))
	}
	return s.node.PointerAt(int64(i))
}

// FirstPointer returns where in a value the first pointer is, with the type
// found there: ".Name (string)", ".Items[0].Next (*pkg.Item)", or just
// "(string)" when T is itself a string. It returns "" for a pointer-free type.
func (s Shape) FirstPointer() string {
	if s.PointerFree() {
		return ""
	}
	path, _ := layout.FirstPointer(s.typ)
	return path
}

// Bits returns the pointer bits as text, first word first.
//
//   - A type of up to 64 words has one digit for each: "101010". That includes
//     types smaller than a word: bool has "0".
//   - A larger type has repeat counts as in a regular expression wherever that
//     is shorter: [4096]byte has "0{512}", [1000000]string "(10){1000000}".
//     The text grows with the number of fields, never with array lengths.
//   - A type of size zero has no words: "-".
//   - The zero Shape has "".
func (s Shape) Bits() string {
	if s.node == nil {
		return ""
	}
	return s.node.Bits()
}

// String returns the type, its size and alignment in bytes, and its [Shape.Bits],
// such as "[3]string 48/8 101010". The zero Shape gives "invalid".
func (s Shape) String() string {
	if s.node == nil {
		return "invalid"
	}
	return fmt.Sprintf("%s %d/%d %s", s.name(), s.node.Size, s.node.Align, s.node.Bits())
}

func (s Shape) name() string { return s.layout().Name }

// layout returns the type's layout, for the zero Shape an empty one.
func (s Shape) layout() *layout.Node {
	if s.node == nil {
		return none
	}
	return s.node
}

var none = layout.Leaf("the zero Shape", 0, 0, wordSize, layout.Scalar)
