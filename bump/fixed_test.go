package bump_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestFixedExhausted(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 100, 4096, 100_001} {
		f := bump.NewFixed(size)
		p, err := f.TryAlloc(uintptr(size), 1)
		if err != nil || !isZero(bytesAt(p, uintptr(size))) {
			t.Fatalf("%d of %d bytes: %v", size, size, err)
		}
		fill(bytesAt(p, uintptr(size)), 0xff)
		if p, err := f.TryAlloc(1, 1); err != bump.ErrExhausted || p != nil {
			t.Errorf("one byte more than %d: %v, %v", size, p, err)
		}
		if v := testkit.Panic(t, func() { f.Alloc(1, 1) }); v != any(bump.ErrExhausted) {
			t.Errorf("Alloc panics with %v", v)
		}
		f.Reset()
		if s := f.Stats(); s.InUse != 0 || s.HighWater != size || s.Idle != size {
			t.Errorf("after Reset: %v", s)
		}
		if p := f.Alloc(uintptr(size), 1); !isZero(bytesAt(p, uintptr(size))) {
			t.Errorf("after Reset %d bytes are not zero", size)
		}
	}
}

func TestFixedStaysUsable(t *testing.T) {
	f := bump.NewFixed(100)
	f.Alloc(60, 1)
	for _, size := range []uintptr{41, 1000, ^uintptr(0), ^uintptr(0) - 59, ^uintptr(0)>>1 + 1} {
		if _, err := f.TryAlloc(size, 1); !errors.Is(err, bump.ErrExhausted) {
			t.Errorf("%d of the 40 bytes left: %v", size, err)
		}
	}
	if _, err := f.TryAlloc(40, 1); err != nil {
		t.Errorf("what fits, after what did not: %v", err)
	}
	if s := f.Stats(); s.InUse != 100 || s.Idle != 0 || s.Reserved != 100 || s.Chunks != 1 {
		t.Errorf("full: %v", s)
	}
}

func TestFixedAlignment(t *testing.T) {
	for size := range 40 { // most are at no round address
		f := bump.NewFixed(5000 + size*300)
		for align := uintptr(1); align <= bump.MaxAlign; align *= 2 {
			for _, size := range []uintptr{0, 1, 5} {
				p, err := f.TryAlloc(size, align)
				if err != nil {
					f.Reset()
					continue
				}
				if uintptr(p)%align != 0 || p == nil {
					t.Fatalf("Alloc(%d, %d) = %p", size, align, p)
				}
			}
		}
	}
	// Nothing that is handed out lies behind the end, an empty value neither.
	f := bump.NewFixed(64)
	f.Alloc(64, 1)
	for align := uintptr(1); align <= 64; align *= 2 {
		if p, err := f.TryAlloc(0, align); err == nil && uintptr(p)%align != 0 {
			t.Errorf("Alloc(0, %d) of a full Fixed = %p", align, p)
		}
	}
}

func TestFixedWithoutRoom(t *testing.T) {
	var zero bump.Fixed
	for _, f := range []*bump.Fixed{&zero, bump.NewFixed(0)} {
		if _, err := f.TryAlloc(1, 1); err != bump.ErrExhausted {
			t.Errorf("%v: %v", f, err)
		}
		f.Reset()
		if s := f.Stats(); s != (bump.Stats{}) {
			t.Errorf("Stats of nothing: %v", s)
		}
	}
}

func TestFixedRefusesPointers(t *testing.T) {
	type inner struct {
		n    int
		name string
	}
	type outer struct {
		id    int
		items [2]inner
	}
	f := bump.NewFixed(1 << 10)
	for range 2 { // what is refused once is refused again
		wantPanic(t, "pointer", func() { bump.NewIn[*int](f) }, "bump: NewIn of *int in a Fixed", "(*int)")
		wantPanic(t, "field", func() { bump.NewIn[outer](f) }, "bump: NewIn of bump_test.outer in a Fixed", ".items[0].name (string)")
		wantPanic(t, "array", func() { bump.NewIn[[3]map[string]int](f) }, "[3]map[string]int", "[0] (map[string]int)")
		wantPanic(t, "func", func() { bump.NewIn[func()](f) }, "func()")
		wantPanic(t, "interface", func() { bump.NewIn[any](f) }, "any")
		wantPanic(t, "channel", func() { bump.NewIn[chan int](f) }, "chan int")
		wantPanic(t, "unsafe", func() { bump.NewIn[struct{ p unsafe.Pointer }](f) }, ".p (unsafe.Pointer)")
		wantPanic(t, "slice", func() { bump.NewIn[[]int](f) }, "[]int")
	}
	if s := f.Stats(); s.InUse != 0 {
		t.Errorf("refused types took memory: %v", s)
	}
	bump.NewIn[struct {
		a [4]uintptr
		b [0]*int
		c complex128
	}](f)
	bump.NewIn[atomic.Int64](f).Add(1)
	if v := testkit.Panic(t, func() { bump.NewIn[[1 << 12]byte](f) }); v != any(bump.ErrExhausted) {
		t.Errorf("NewIn of a full Fixed panics with %v", v)
	}
}

func TestFixedRefuses(t *testing.T) {
	wantPanic(t, "negative", func() { bump.NewFixed(-3) }, "bump: NewFixed(-3)")
	huge := int(^uint(0) >> 1)
	wantPanic(t, "huge", func() { bump.NewFixed(huge) }, "bump: NewFixed: ", fmt.Sprint(huge))
	var f *bump.Fixed
	wantPanic(t, "nil", func() { f.Alloc(1, 1) }, "bump: Alloc on a nil Fixed")
	wantPanic(t, "nil", func() { f.TryAlloc(1, 1) }, "bump: Alloc on a nil Fixed")
	wantPanic(t, "nil", func() { bump.NewIn[int](f) }, "bump: Alloc on a nil Fixed")
	wantPanic(t, "nil", func() { f.Reset() }, "bump: Reset of a nil Fixed")
	if f.Stats() != (bump.Stats{}) || f.String() != "nil fixed arena" {
		t.Errorf("nil: %v, %v", f.Stats(), f)
	}
}

func TestFixedString(t *testing.T) {
	f := bump.NewFixed(10)
	f.Alloc(3, 1)
	if got, want := f.String(), "fixed arena: 3 of 10 bytes in use"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
