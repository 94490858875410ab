package guard

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/leak"
)

// Hold guards a chunk of Go's heap that was released and is not used again: what, which
// is zero. made is where its owner was made, or nil. It reports false, and does nothing,
// without a slot, and if the chunk is large. The caller has no locks.
func Hold(what *check.Released, made *leak.Site) bool {
	if !Fits(uintptr(what.N) * what.Type.Size()) {
		return false
	}
	end := leak.Here("", "")
	all.mu.Lock()
	defer unlock()
	a := take(nil)
	if a != nil {
		enter(a, what, made)
		hold(a, end)
	}
	return a != nil
}

// Chunk returns a slice, of type []typ, of n zero values on pages of their own, or nil if
// the type has pointers, they are too large, or there is no slot. Whoever has them calls
// [Shut] when nobody uses them any more; without it, they stay as they are.
func Chunk(typ reflect.Type, n int, title string, made *leak.Site) any {
	if !canOpen || n <= 0 || uintptr(n) > maxBytes || !Fits(uintptr(n)*typ.Size()) || layout.HasPointers(typ) {
		return nil
	}
	all.mu.Lock()
	defer unlock()
	a := placeOwn(typ, n, title, made)
	if a == nil {
		return nil
	}
	// SAFETY: the values have no pointers, are aligned, since either end of
	// the pages is, and lie in the pages.
	return reflect.SliceAt(typ, a.what.Mem, n).Interface()
}

// Shut takes the access to a chunk away at p that [Chunk] returned and nobody
// uses any more. For other memory it does nothing, and reports false.
func Shut(p unsafe.Pointer) bool {
	if !Within(p) {
		return false
	}
	end := leak.Here("", "")
	all.mu.Lock()
	defer unlock()
	if a := all.by[uintptr(p)]; a != nil && a.state == live {
		found(a.beside())
		hold(a, end)
	}
	return true
}
