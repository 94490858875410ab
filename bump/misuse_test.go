package bump_test

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// uses are all ways to use an arena that need one that is in order.
func uses(a *bump.Arena) map[string]func() {
	return map[string]func(){
		"Alloc":     func() { a.Alloc(8, 8) },
		"Realloc":   func() { a.Realloc(nil, 0, 8, 8) },
		"Reset":     func() { a.Reset() },
		"Free":      func() { a.Free() },
		"MakeSlice": func() { bump.MakeSlice[int](a, 1, 1) },
		"Append":    func() { bump.Append(a, nil, 1) },
		"Push":      func() { bump.Push(a, nil, 1) },
		"String":    func() { bump.String(a, "x") },
	}
}

func TestUseAfterFree(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	for range 3 {
		bump.New[[100]int64](&a)
		a.Reset()
	}
	n := bump.NewFrom(&a, [100]int64{99: 7})
	a.Free()
	want := " after Free of bump arena (freed, high water 800 bytes, 3 resets)"
	for op, f := range uses(&a) {
		testkit.PanicText(t, "bump: "+op+want, f)
	}
	testkit.PanicText(t, "bump: New"+want, func() { bump.New[int](&a) })
	testkit.PanicText(t, "bump: New"+want, func() { bump.New[struct{}](&a) })
	testkit.PanicText(t, "bump: New"+want, func() { bump.NewFrom(&a, 1) })
	if n[99] != 7 || a.Owns(unsafe.Pointer(n)) {
		t.Error("an object changed after Free, or is still the arena's")
	}
	if s := a.Stats(); s != (bump.Stats{Resets: 3, HighWater: 800}) {
		t.Errorf("Stats after Free: %v", s)
	}
}

func TestFreeOfUnused(t *testing.T) {
	var a bump.Arena
	a.Free()
	testkit.PanicText(t, "bump: Free after Free of bump arena (freed, high water 0 bytes, 0 resets)", a.Free)
	testkit.PanicText(t, "bump: New after Free of bump arena (freed, high water 0 bytes, 0 resets)", func() { bump.New[int](&a) })
}

func TestNilArena(t *testing.T) {
	var a *bump.Arena
	for op, f := range uses(a) {
		wantPanic(t, op, f, "bump: "+op+" on a nil Arena")
	}
	// New has no room for a check; it must still panic.
	if _, ok := testkit.Panic(t, func() { bump.New[int](a) }).(runtime.Error); !ok {
		t.Error("New on a nil Arena is no nil dereference")
	}
	if a.Stats() != (bump.Stats{}) || a.String() != "nil bump arena" || a.Owns(unsafe.Pointer(t)) {
		t.Errorf("nil: %v, %v", a.Stats(), a)
	}
}

// TestVetFindsCopies checks for what go vet goes by: a field whose address is a
// sync.Locker.
func TestVetFindsCopies(t *testing.T) {
	typ := reflect.TypeFor[bump.Arena]()
	for i := range typ.NumField() {
		if reflect.PointerTo(typ.Field(i).Type).Implements(reflect.TypeFor[sync.Locker]()) {
			return
		}
	}
	t.Error("go vet lets an Arena be copied")
}

// clone copies an arena in a way that go vet does not see.
func clone(a *bump.Arena) *bump.Arena {
	b := new(bump.Arena)
	type words [unsafe.Sizeof(*b) / unsafe.Sizeof(uintptr(0))]unsafe.Pointer
	*(*words)(unsafe.Pointer(b)) = *(*words)(unsafe.Pointer(a))
	return b
}

func TestCopiedArena(t *testing.T) {
	var a bump.Arena
	clone(&a).Alloc(1, 1) // an unused arena may be copied
	bump.New[int](&a)
	b := clone(&a)
	for op, f := range uses(b) {
		switch op {
		case "Alloc", "String":
			continue // see below
		}
		testkit.PanicText(t, "bump: "+op+" on a copy of an Arena: pass a *Arena", f)
	}
	// The quick ways find out when they need a chunk.
	text := " on a copy of an Arena: pass a *Arena"
	testkit.PanicText(t, "bump: New"+text, func() {
		for range 1000 {
			bump.New[int](b)
		}
	})
	testkit.PanicText(t, "bump: Alloc"+text, func() { b.Alloc(1000, 1) })
	testkit.PanicText(t, "bump: String"+text, func() { bump.String(b, make([]byte, 1000)) })
	a.Reset()
	bump.New[int](&a) // the original works
}
