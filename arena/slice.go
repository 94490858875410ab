package arena

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/chunk"
)

// Push is [Append] of one value: it appends v to s and returns the result, in a, or as the
// built-in append does if a is nil. It costs about what [New] does where s has room, and for
// a nil arena an append and a compare. Append takes its values in a slice. In a helper that
// is inlined into a package without an Append of that type, the compiler does not know that
// nobody keeps it, and makes it on Go's heap in each call. Push has no such slice.
// It panics as New does, and is for one goroutine at a time.
func Push[T any](a *Arena, s []T, v T) []T {
	if a == nil {
		return append(s, v)
	}
	return push(a, s, v)
}

// push is Push for an arena that is not nil, so that Push inlines.
func push[T any](a *Arena, s []T, v T) []T {
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "Push")
	}
	if !hasRoom(l.buf, s, 1) {
		s = mustRoom(l, "Push", s, 1)
	}
	return append(s, v)
}

// Append appends vs to s and returns the result, in a, or as the built-in
// append does if a is nil. It grows s in place when s is the last slice of its
// type in a and there is room behind it, and otherwise copies it within a; either
// way the capacity doubles, and begins with four for elements of up to 16 bytes.
// A slice that is not a's memory is copied into a and itself left alone, its
// spare capacity included. For one value [Push] is better. It panics as [New] does.
func Append[T any](a *Arena, s []T, vs ...T) []T {
	if a == nil {
		return append(s, vs...)
	}
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "Append")
	}
	if len(vs) == 1 && hasRoom(l.buf, s, 1) {
		return append(s, vs[0])
	}
	return appendTo(l, s, vs)
}

// TryAppend is [Append], but where Append panics with a [*LimitError], which Is
// [ErrLimit], it returns that and s as it is.
func TryAppend[T any](a *Arena, s []T, vs ...T) ([]T, error) {
	if a == nil {
		return append(s, vs...), nil
	}
	s, err := room(laneOf[T](a, "TryAppend"), "TryAppend", s, len(vs))
	if err != nil {
		return s, err
	}
	return append(s, vs...), nil
}

// hasRoom reports whether s is a slice of the open chunk with room for n values more, as in
// most calls of Append. It inlines.
func hasRoom[T any](buf, s []T, n int) bool {
	return n <= cap(s)-len(s) && addr.Begins(s, buf)
}

// appendTo appends vs to s in l's memory.
func appendTo[T any](l *typed[T], s, vs []T) []T {
	if !hasRoom(l.buf, s, len(vs)) {
		return append(mustRoom(l, "Append", s, len(vs)), vs...)
	}
	n := len(s)
	s = s[:n+len(vs)]
	addr.Write(s[n:], vs)
	return s
}

// mustRoom is room that panics with the error. The lane may be one on its own that was never
// used.
//
//go:noinline
func mustRoom[T any](l *typed[T], op string, s []T, n int) []T {
	s, err := room((*Lane[T])(l).ready(), op, s, n)
	if err != nil {
		panic(err)
	}
	return s
}

// room returns s with room for more values; none where the built-in append makes it.
func room[T any](l *typed[T], op string, s []T, more int) ([]T, error) {
	n := len(s)
	own, at, room, err := l.c.extend(op, addr.First(l.buf), addr.First(s), n, cap(s), more)
	if err != nil || room == 0 {
		return s, err
	}
	grown := chunkOf(l, own)[at : at+n : at+room]
	if n > 0 && &grown[0] != &s[0] {
		copy(grown, s)
	}
	return grown, nil
}

// extend makes room for more elements behind a slice of the lane's type that begins at
// p, where the open chunk begins at base. The result is where it goes on, as that of take, with room for so many elements; or
// none, if it stays where it is and the built-in append does the rest.
func (l *lane) extend(op string, base, p *byte, length, capacity, more int) (own any, at, room int, err error) {
	if l.heap || more == 0 {
		return nil, 0, 0, nil
	}
	n := length + more
	if n < 0 {
		panic(fmt.Sprintf("arena: %s of %d values to a slice of %d overflows", op, more, length))
	}
	if n <= capacity && l.owns(p, capacity) {
		return nil, 0, 0, nil
	}
	want := max(n, 2*capacity)
	if l.size <= smallElem {
		// Lists are short, and a second one would move the first.
		want = max(want, 4)
	}
	if first, ok := l.tail(base, p, capacity); ok && n-capacity <= l.free() {
		grow := min(want-capacity, l.free())
		l.advance(grow)
		return nil, first, capacity + grow, nil
	}
	own, at, err = l.take(op, length, want)
	return own, at, want, err
}

// smallElem is the size in bytes of elements up to which the first value
// appended to a slice brings room for three more.
const smallElem = 16

// tail reports whether the slice at p is the last one of the open chunk, and at which
// element it begins.
func (l *lane) tail(base, p *byte, capacity int) (first int, ok bool) {
	first = l.at().lo - capacity
	if capacity == 0 || l.size == 0 || first < 0 || l.n == 0 {
		return 0, false
	}
	return first, addr.Offset(p, base) == uintptr(first*l.size)
}

// owns reports whether n elements at p are memory of the lane.
func (l *lane) owns(p *byte, n int) bool {
	if n > 0 && l.size > 0 {
		bytes := uintptr(n) * uintptr(l.size)
		for base, elems := range l.used() {
			off, all := addr.Offset(p, base), uintptr(elems)*uintptr(l.size)
			if off < all && bytes <= all-off {
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
	n := len(s)
	if n == 0 {
		return ""
	}
	var b []byte
	if a != nil && a.bytes != nil && fits(a.bytes.i-a.bytes.lo, n, n) {
		l := a.bytes
		l.lo += n
		b = l.buf[l.lo-n : l.lo : l.lo]
	} else {
		b = a.mustText(n)
	}
	copy(b, s)
	return addr.String(b)
}

// TryString is [String], but returns the [*LimitError], which Is [ErrLimit], with which
// String panics.
func TryString[S ~string | ~[]byte](a *Arena, s S) (string, error) {
	if len(s) == 0 {
		return "", nil
	}
	b, err := a.text("TryString", len(s))
	if err != nil {
		return "", err
	}
	copy(b, s)
	return addr.String(b), nil
}

func (a *Arena) mustText(n int) []byte {
	b, err := a.text("String", n)
	if err != nil {
		panic(err)
	}
	return b
}

// text returns room for n bytes.
func (a *Arena) text(op string, n int) ([]byte, error) {
	if a == nil {
		return make([]byte, n), nil
	}
	if a.bytes == nil {
		a.bytes = laneOf[byte](a, op)
	}
	own, at, err := a.bytes.c.take(op, n, n)
	if err != nil {
		return nil, err
	}
	return chunkOf(a.bytes, own)[at : at+n : at+n], nil
}

// Clone returns a shallow copy of v on Go's heap, so that it can outlive the
// arena it came from: it copies the target of a pointer, the elements of a
// slice, or a string. A nil v stays nil. What the copy points to stays where
// it is. Clone panics for any other type. It uses reflection for named types
// and costs about as much as the allocation.
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

// checkLen panics if no slice of that length and capacity can be.
func checkLen(op string, typ reflect.Type, length, capacity int) {
	if length < 0 || capacity < length {
		panic(fmt.Sprintf("arena: %s[%v]: length %d, capacity %d: want 0 ≤ length ≤ capacity",
			op, typ, length, capacity))
	}
	if size := int(typ.Size()); size > 0 && capacity > chunk.MaxBytes/size {
		panic(fmt.Sprintf("arena: %s[%v]: %d elements of %d bytes are more than the %d bytes of the address space",
			op, typ, capacity, size, chunk.MaxBytes))
	}
}
