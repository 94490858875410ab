package check

import (
	"reflect"
	"unsafe"
)

// A Loan is an object, or the bytes of a buffer, that a pool hands out and takes
// back. It may be anything, on the heap or not, and part of something larger.
type Loan struct {
	P     unsafe.Pointer
	Type  reflect.Type
	Owner string // the pool, as reports name it
	Part  bool   // a part of it may be put in its place
}

// A Waiter is what was put and waits before it can be handed out again.
type Waiter struct {
	What  []*Released
	Cost  int    // bytes that it holds
	Keeps bool   // it holds others behind pointers, nobody knows how many
	Back  func() // called when it has waited: puts back what it held
}
