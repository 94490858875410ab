package slab

import (
	"errors"
	"unsafe"

	"github.com/haven-mem/haven/internal/config"
)

// ErrExhausted is what TryAlloc and its like return, and Alloc and its like
// panic with, when the capacity is reached. The error wraps it in a message
// that names the cache or table; find it with errors.Is.
var ErrExhausted = errors.New("slab: capacity reached")

// A Config has the settings of a cache made by [NewCache]. In the zero Config all are the
// default.
type Config[T any] struct {
	// Name is what panics, errors and statistics show. A cache with a name is listed by
	// [Caches]. The default is none.
	Name string

	// Capacity bounds how many objects may be allocated at a time. The bound is exact. 0
	// means no bound; it must not be negative.
	Capacity int

	// Init builds an object in zeroed memory, before Alloc returns it for the first time,
	// and again after each Free, unless there is a Reset that leaves the object built. nil
	// means that objects are zero.
	Init func(*T)

	// Reset is called by Free, instead of zeroing the object, to make it ready for the
	// next Alloc: it should drop what the object refers to and may keep what is costly to
	// make again. What it leaves, the next user sees. nil means that Free zeroes.
	Reset func(*T)
}

// A TableConfig has the settings of a table made by [NewTable]. In the zero TableConfig
// all are the default.
type TableConfig struct {
	// Name is what panics, errors and statistics show. The default is none.
	Name string

	// Capacity bounds how many elements may be in the table. The bound is exact. 0 means
	// no bound; it must not be negative.
	Capacity int
}

// An object stands for one of any type, and a Config of it for those of all types, in what
// caches of all types have in common.
type object struct{}

// common returns the Configs that a constructor was given as those of objects.
func common[T any](conf []Config[T]) []Config[object] {
	// SAFETY: GC.md fact 24: Configs differ in what pointers that functions take point to.
	return *(*[]Config[object])(unsafe.Pointer(&conf))
}

// untyped returns f as one that takes a pointer without type.
func untyped(f func(*object)) func(unsafe.Pointer) {
	return *(*func(unsafe.Pointer))(unsafe.Pointer(&f)) // SAFETY: GC.md fact 24.
}

func checkCapacity(field string, n int) {
	config.AtLeast(field, n, 0, "a number of objects, 0 (no bound) or more")
}
