package slab

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// ErrExhausted is what TryAlloc and its like return, and Alloc and its like
// panic with, when the capacity is reached. The error wraps it in a message
// that names the cache or table; find it with errors.Is.
var ErrExhausted = errors.New("slab: capacity reached")

// An Option sets a property of a cache made by [NewCache] or of a table made by
// [NewTable].
type Option struct{ apply func(*config) }

// A config is what the options say.
type config struct {
	name     string
	capacity int
	init     callback
	clear    callback
}

// A callback is a func(*T).
type callback struct {
	typ  reflect.Type // of the function, or nil if there is none
	call func(unsafe.Pointer)
}

// callbackOf returns f as the common part of caches calls it.
func callbackOf[T any](f func(*T)) callback {
	// SAFETY: GC.md fact 24; of makes sure that it gets a *T.
	return callback{reflect.TypeOf(f), *(*func(unsafe.Pointer))(unsafe.Pointer(&f))}
}

// of returns the function that an option of a cache was given, which must take a ptr.
func (c callback) of(option string, ptr reflect.Type) func(unsafe.Pointer) {
	if c.typ != nil && c.typ.In(0) != ptr {
		panic(fmt.Sprintf("slab: %s with a %v for a cache of %v", option, c.typ, ptr.Elem()))
	}
	return c.call
}

func configOf(opts []Option) config {
	var c config
	for _, o := range opts {
		if o.apply != nil {
			o.apply(&c)
		}
	}
	return c
}

// Name sets the name that panics, errors and statistics show. A cache with a
// name is listed by [Caches].
func Name(name string) Option {
	return Option{func(c *config) { c.name = name }}
}

// Capacity bounds how many objects may be allocated at a time; 0, the default,
// means no bound. The bound is exact. Capacity panics if n is negative.
func Capacity(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("slab: Capacity(%d): want a number of objects, 0 (none) or more", n))
	}
	return Option{func(c *config) { c.capacity = n }}
}

// Init sets the function that builds an object in zeroed memory, before Alloc
// returns it for the first time, and again after each Free, unless there is a
// [Clear] that leaves the object built. NewCache panics if f takes another type
// than the cache's.
func Init[T any](f func(*T)) Option {
	return Option{func(c *config) { c.init = callbackOf(f) }}
}

// Clear sets the function that Free calls, instead of zeroing the object, to
// make it ready for the next Alloc: it should drop what the object refers to and
// may keep what is costly to make again. What it leaves, the next user sees.
// NewCache panics if f takes another type than the cache's.
func Clear[T any](f func(*T)) Option {
	return Option{func(c *config) { c.clear = callbackOf(f) }}
}

// titleOf returns a kind and a name as messages show them.
func titleOf(kind, name string) string {
	if name == "" {
		return "a " + kind + " without a name"
	}
	return fmt.Sprintf("%s %q", kind, name)
}
