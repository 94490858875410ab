package bump

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A cell is a T rounded up to a multiple of 8 bytes, so that the next object is
// aligned whatever its type.
type cell[T any] struct {
	_ [0]atomic.Int64 // aligned to 8 bytes on every machine
	v T
}

// New returns a pointer to a zero T in a. It inlines: a compare, a subtraction
// and an addition. Objects take multiples of 8 bytes. Pointers in *T must point
// into a. It panics if a was freed; a nil a is a nil dereference, as there is no
// room for a check of its own.
func New[T any](a *Arena) *T {
	if check.Enabled {
		return newChecked[T](a)
	}
	if sanitize.Poisons {
		return (*T)(a.newGranted(unsafe.Sizeof(*new(T)), unsafe.Sizeof(cell[T]{})))
	}
	// The compare is strict so that an empty T in an arena without a chunk
	// gets one, too. The cost of this body is near the inliner's bound.
	if a.left <= unsafe.Sizeof(cell[T]{}) {
		a.grow(unsafe.Sizeof(cell[T]{}))
	}
	a.left -= unsafe.Sizeof(cell[T]{})
	// SAFETY: GC.md fact 5: base plus left lies in the open chunk, the size of
	// a T below its end.
	return (*T)(unsafe.Add(a.base, a.left))
}

// TryNew is [New], but returns the error, which Is [ErrLimit], with which New panics.
// The arena stays usable.
func TryNew[T any](a *Arena) (*T, error) {
	if err := a.room("TryNew", unsafe.Sizeof(cell[T]{})+2*zone+sanitize.Zone); err != nil {
		return nil, err
	}
	return New[T](a), nil
}

// room makes the open chunk one with more than size bytes free.
func (a *Arena) room(op string, size uintptr) error {
	a.checkUsable(op)
	if a.left > size {
		return nil
	}
	checkSize(op, size)
	return a.growFor(op, size+8, 8)
}

// NewFrom returns a pointer to a T in a that holds v. Pointers in v must point
// into a. It panics as [New] does.
func NewFrom[T any](a *Arena, v T) *T {
	p := New[T](a)
	*p = v
	return p
}

// MakeSlice returns a zero slice of the given length and capacity in elements.
// It panics if len is negative or above cap, if the slice exceeds the address
// space, and as [New] does.
func MakeSlice[T any](a *Arena, len, cap int) []T {
	s, err := makeSlice[T](a, "MakeSlice", len, cap)
	if err != nil {
		panic(err)
	}
	return s
}

// TryMakeSlice is [MakeSlice], but returns the error, which Is [ErrLimit], with which
// MakeSlice panics. It panics for the same lengths.
func TryMakeSlice[T any](a *Arena, len, cap int) ([]T, error) {
	return makeSlice[T](a, "TryMakeSlice", len, cap)
}

func makeSlice[T any](a *Arena, op string, len, cap int) ([]T, error) {
	a.checkUsable(op)
	if len < 0 || cap < len {
		panic(fmt.Sprintf("bump: %s[%v]: length %d, capacity %d: want 0 ≤ length ≤ capacity",
			op, reflect.TypeFor[T](), len, cap))
	}
	var zero T
	p, err := a.alloc(op, bytesOf[T](op, cap), unsafe.Alignof(zero))
	if err != nil {
		return nil, err
	}
	if check.Enabled {
		a.noteType(p, reflect.TypeFor[T]())
	}
	// SAFETY: p has room for cap elements and is aligned for them.
	return unsafe.Slice((*T)(p), cap)[:len], nil
}

// bytesOf returns the size of n elements, or panics if there cannot be as many.
func bytesOf[T any](op string, n int) uintptr {
	var zero T
	size := unsafe.Sizeof(zero)
	if size > 0 && uintptr(n) > maxSize/size {
		panic(fmt.Sprintf("bump: %s[%v]: %d elements of %d bytes are more than the %d bytes of the address space",
			op, reflect.TypeFor[T](), n, size, uint64(chunk.MaxBytes)))
	}
	return uintptr(n) * size
}

// String returns a copy of s as a string in a. It panics as [New] does.
func String[S ~string | ~[]byte](a *Arena, s S) string {
	if len(s) == 0 {
		return ""
	}
	p := (*byte)(a.allocBytes(uintptr(len(s))))
	if check.Enabled {
		a.noteType(unsafe.Pointer(p), reflect.TypeFor[byte]())
	}
	copy(unsafe.Slice(p, len(s)), s)
	// SAFETY: p points to len(s) bytes that nobody else was handed.
	return unsafe.String(p, len(s))
}

// allocBytes is Alloc(n, 1), quicker where the open chunk has room.
func (a *Arena) allocBytes(n uintptr) unsafe.Pointer {
	if check.Enabled || sanitize.Poisons || a == nil || a.open.data == nil || n >= a.left {
		return a.slowBytes(n)
	}
	start := a.open.lo
	a.take(start, start+n)
	// SAFETY: GC.md fact 5: [start, start+n) lies in the free part.
	return unsafe.Add(a.open.data, start)
}

//go:noinline
func (a *Arena) slowBytes(n uintptr) unsafe.Pointer {
	a.checkUsable("String")
	return a.Alloc(n, 1)
}

// Push is [Append] of one value: it appends v to s and returns the result. Pointers in v must
// point into a. It costs some two nanoseconds where s has room. Append takes its values in a
// slice. In a helper that is inlined into a package without an Append of that type, the
// compiler does not know that nobody keeps it, and makes it on Go's heap in each call. Push
// has no such slice. It panics if a is nil, after Free, and with a [*LimitError] if a limit is
// reached, and is for one goroutine at a time.
func Push[T any](a *Arena, s []T, v T) []T {
	if hasRoom(a, s, 1) {
		return append(s, v)
	}
	return append(room(a, "Push", s, 1), v)
}

// Append appends vs to s and returns the result. It grows s in place when s is
// the latest slice of a with room behind it, and otherwise copies it within a;
// either way the capacity doubles, or in place becomes what is needed if there is no room for
// more. A slice that is not a's memory is copied into a and itself left alone, its spare
// capacity included. Pointers in vs must point into a. For one value [Push] is better. It
// panics as [New] does.
func Append[T any](a *Arena, s []T, vs ...T) []T {
	if !hasRoom(a, s, len(vs)) {
		return append(room(a, "Append", s, len(vs)), vs...)
	}
	n := len(s)
	s = s[:n+len(vs)]
	addr.Write(s[n:], vs)
	return s
}

// hasRoom reports whether s lies in the open chunk and has room for n values more, as in most
// calls of Append. It inlines. The check build looks for copies of the arena instead.
func hasRoom[T any](a *Arena, s []T, n int) bool {
	// SAFETY: GC.md fact 13, as in Owns.
	return !check.Enabled && a != nil && n <= cap(s)-len(s) && uintptr(unsafe.Pointer(unsafe.SliceData(s)))-uintptr(a.open.data) < a.open.size
}

// room returns s with room for more values.
//
//go:noinline
func room[T any](a *Arena, op string, s []T, more int) []T {
	a.checkUsable(op)
	n := len(s) + more
	if n < 0 {
		panic(fmt.Sprintf("bump: %s of %d values to a slice of %d overflows", op, more, len(s)))
	}
	own := a.Owns(unsafe.Pointer(unsafe.SliceData(s)))
	if more == 0 || own && n <= cap(s) {
		return s
	}
	return growTo(a, op, s, n, own)
}

// growTo returns s with a capacity of at least n.
func growTo[T any](a *Arena, op string, s []T, n int, own bool) []T {
	var zero T
	size, align := unsafe.Sizeof(zero), unsafe.Alignof(zero)
	p := unsafe.Pointer(unsafe.SliceData(s))
	most := max(n, 2*cap(s))
	// A slice that was cut short of what follows it leaves that alone.
	if own && a.endsAtCursor(p, uintptr(cap(s))*size) {
		for _, k := range [...]int{most, n} {
			if a.extend(p, uintptr(cap(s))*size, bytesOf[T](op, k)) {
				// SAFETY: extend made the bytes of k elements at p the slice's.
				return unsafe.Slice((*T)(p), k)[:len(s)]
			}
		}
	}
	n = most
	q := a.Alloc(bytesOf[T](op, n), align)
	if check.Enabled {
		a.noteType(q, reflect.TypeFor[T]())
		if own {
			a.abandon(p)
		}
	}
	// SAFETY: q has room for n elements and is aligned for them.
	t := unsafe.Slice((*T)(q), n)[:len(s)]
	copy(t, s)
	return t
}
