package bump

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
)

// A Slice is a growing slice in an arena that may itself be stored in that
// arena: it does not refer to the Arena, which is passed to what may allocate.
// The zero Slice is empty and ready. It is for one goroutine at a time. A Slice
// must be grown with one and the same arena; with another, it moves there.
//
// It grows like the arena's Realloc, in place where it can, and else doubles.
type Slice[T any] struct{ s []T }

// Append adds vs to the end. Pointers in vs must point into a. It panics as
// [New] does.
func (s *Slice[T]) Append(a *Arena, vs ...T) {
	if len(vs) > cap(s.s)-len(s.s) {
		s.Grow(a, len(vs))
	}
	s.s = append(s.s, vs...)
}

// Grow makes room for n more elements. It panics if n is negative, and as [New]
// does.
func (s *Slice[T]) Grow(a *Arena, n int) {
	if n < 0 {
		panic(fmt.Sprintf("bump: Slice.Grow(%d): want 0 or more", n))
	}
	if n <= cap(s.s)-len(s.s) {
		return
	}
	a.checkUsable("Slice.Grow")
	var zero T
	size := unsafe.Sizeof(zero)
	if n > chunk.MaxBytes-cap(s.s) {
		panic(fmt.Sprintf("bump: Slice.Grow(%d) of a slice of %d overflows", n, len(s.s)))
	}
	want := max(len(s.s)+n, 2*cap(s.s))
	p := unsafe.Pointer(unsafe.SliceData(s.s))
	if cap(s.s) == 0 {
		p = nil
	}
	p = a.Realloc(p, uintptr(cap(s.s))*size, bytesOf[T]("Slice.Grow", want), unsafe.Alignof(zero))
	if check.Enabled {
		a.noteType(p, reflect.TypeFor[T]())
	}
	// SAFETY: Realloc gave room for want elements, aligned for them.
	s.s = unsafe.Slice((*T)(p), want)[:len(s.s)]
}

// Len returns the number of elements.
func (s *Slice[T]) Len() int { return len(s.s) }

// Cap returns the number of elements that there is room for.
func (s *Slice[T]) Cap() int { return cap(s.s) }

// At returns a pointer to element i, valid until the Slice grows. It panics if
// there is no such element.
func (s *Slice[T]) At(i int) *T { return &s.s[i] }

// Slice returns the elements as a Go slice without spare capacity, valid until
// the Slice grows.
func (s *Slice[T]) Slice() []T { return s.s[:len(s.s):len(s.s)] }

// Truncate shortens the Slice to n elements and keeps the room. It panics if
// there are fewer.
func (s *Slice[T]) Truncate(n int) {
	if n < 0 || n > len(s.s) {
		panic(fmt.Sprintf("bump: Slice.Truncate(%d) of a slice of %d", n, len(s.s)))
	}
	clear(s.s[n:])
	s.s = s.s[:n]
}
