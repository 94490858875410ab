package arena

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Append appends vs to s and returns the result, in a, or as the built-in
// append does if a is nil. It grows s in place when s is the last slice of its
// type in a and there is room behind it, and otherwise copies it within a; either
// way the capacity doubles, and begins with four for elements of up to 16 bytes.
// A slice that is not a's memory is copied into a and itself left alone, its
// spare capacity included. It panics as [New] does.
func Append[T any](a *Arena, s []T, vs ...T) []T {
	if a == nil {
		return append(s, vs...)
	}
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "Append")
	}
	if l.hasRoom(s, vs) {
		return append(s, vs[0])
	}
	return l.appendSlow(s, vs)
}

// Append is the function [Append] for the lane's type and memory.
func (l *Lane[T]) Append(s []T, vs ...T) []T {
	if l.hasRoom(s, vs) {
		return append(s, vs[0])
	}
	return l.appendSlow(s, vs)
}

// hasRoom reports whether vs is one value and s a slice of the open chunk with
// room for it, as in most calls of Append. It inlines.
func (l *Lane[T]) hasRoom(s, vs []T) bool {
	return len(vs) == 1 && len(s) < cap(s) && addr.Within(s, l.buf)
}

// appendSlow makes room where there is none.
func (l *Lane[T]) appendSlow(s, vs []T) []T {
	if l.heap {
		return append(s, vs...)
	}
	if len(vs) == 0 {
		return s
	}
	n := len(s) + len(vs)
	if n < 0 {
		panic(fmt.Sprintf("arena: Append of %d values to a slice of %d overflows", len(vs), len(s)))
	}
	if n <= cap(s) && l.owns(s) {
		return append(s, vs...)
	}
	want := max(n, 2*cap(s))
	if l.size() <= smallElem {
		// Lists are short, and a second one would move the first.
		want = max(want, 4)
	}
	var grown []T
	if l.endsAtCursor(s) && n-cap(s) <= l.i {
		more := min(want-cap(s), l.i)
		hi := len(l.buf) - len(l.free)
		lo := hi - cap(s)
		l.free = l.free[more:]
		l.i -= more
		if check.Enabled {
			l.noteSlice(more)
		}
		if sanitize.Poisons {
			sanitize.GrantAll(l.buf[hi : hi+more])
		}
		l.checkInvariants()
		grown = l.buf[lo : lo+len(s) : hi+more]
	} else {
		grown = l.MakeSlice(len(s), want)
		if len(s) > 0 {
			copy(grown, s)
		}
	}
	if len(vs) == 1 { // without a call to copy
		return append(grown, vs[0])
	}
	return append(grown, vs...)
}

// smallElem is the size in bytes of elements up to which the first value
// appended to a slice brings room for three more.
const smallElem = 16

// endsAtCursor reports whether s is the last slice of the open chunk.
func (l *Lane[T]) endsAtCursor(s []T) bool {
	lo := len(l.buf) - len(l.free)
	c := cap(s)
	return c > 0 && l.free != nil && lo >= c && l.size() > 0 && &s[:c][c-1] == &l.buf[lo-1]
}

// owns reports whether s is memory of the lane.
func (l *Lane[T]) owns(s []T) bool {
	if addr.Within(s, l.buf) {
		return true
	}
	if l.rest != nil {
		for i := len(l.rest.full) - 1; i >= 0; i-- {
			if addr.Within(s, l.rest.full[i].buf) {
				return true
			}
		}
		for i := len(l.rest.large) - 1; i >= 0; i-- {
			if addr.Within(s, l.rest.large[i]) {
				return true
			}
		}
	}
	return false
}

// String returns a copy of s as a string in a, or on Go's heap if a is nil. The
// text is valid until Reset, after which its bytes, but never its length,
// change under a string that was kept. It panics as [New] does.
func String[S ~string | ~[]byte](a *Arena, s S) string {
	if len(s) == 0 {
		return ""
	}
	var b []byte
	switch {
	case a == nil:
		b = make([]byte, len(s))
	case a.bytes != nil && len(s) <= a.bytes.i:
		b = a.bytes.cut(len(s), len(s)) // MakeSlice's quick way, which inlines
	default:
		a.bytes = laneOf[byte](a, "String")
		b = a.bytes.MakeSlice(len(s), len(s))
	}
	copy(b, s)
	return addr.String(b)
}

// Clone returns a shallow copy of v on Go's heap, so that it can outlive the
// arena it came from: v is a pointer, whose target is copied, a slice, whose
// elements are, or a string. A nil v stays nil. What v's copy itself points to
// is still where it was. Clone panics for any other type. It uses reflection
// for named types and costs about as much as the allocation.
//
// The name and meaning are those of Clone in Go's experimental arena package.
func Clone[T any](v T) T {
	switch s := any(v).(type) {
	case string:
		return any(strings.Clone(s)).(T)
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return v
		}
		p := reflect.New(rv.Type().Elem())
		p.Elem().Set(rv.Elem())
		return p.Convert(rv.Type()).Interface().(T)
	case reflect.Slice:
		if rv.IsNil() {
			return v
		}
		s := reflect.MakeSlice(rv.Type(), rv.Len(), rv.Len())
		reflect.Copy(s, rv)
		return s.Interface().(T)
	case reflect.String:
		return reflect.ValueOf(strings.Clone(rv.String())).Convert(rv.Type()).Interface().(T)
	}
	panic(fmt.Sprintf("arena: Clone of a %v: want a pointer, a slice or a string", reflect.TypeFor[T]()))
}

// checkLen panics if no slice of T of that length and capacity can be.
func checkLen[T any](op string, length, capacity int) {
	if length < 0 || capacity < length {
		panic(fmt.Sprintf("arena: %s[%v]: length %d, capacity %d: want 0 ≤ length ≤ capacity",
			op, reflect.TypeFor[T](), length, capacity))
	}
	if size := int(unsafe.Sizeof(*new(T))); size > 0 && capacity > chunk.MaxBytes/size {
		panic(fmt.Sprintf("arena: %s[%v]: %d elements of %d bytes are more than the %d bytes of the address space",
			op, reflect.TypeFor[T](), capacity, size, chunk.MaxBytes))
	}
}
