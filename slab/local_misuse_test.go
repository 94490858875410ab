package slab_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// secondFree and foreignFree are what a Local says of p.
func secondFree[T any](p *T) string {
	return fmt.Sprintf("slab: second Free of %T %p in a Local", p, p)
}
func foreignFree[T any](p *T) string {
	return fmt.Sprintf("slab: Free of %T %p, which is no object of this Local", p, p)
}

// healthy checks that a Local works as if the mistake had not been: it has
// inUse objects in use and hands out others.
func healthy[T any](t *testing.T, l *slab.Local[T], inUse int) {
	t.Helper()
	if s := checkLocal(t, l); s.InUse != inUse {
		t.Errorf("%d objects in use: %+v", inUse, s)
	}
	list := fillLocal(t, l, 3000)
	for _, p := range list {
		l.Free(p)
	}
	l.Trim()
	if s := checkLocal(t, l); s.InUse != inUse {
		t.Errorf("%d objects in use: %+v", inUse, s)
	}
}

// More objects come back than are in use: that is found at once.
func TestLocalSecondFreeAtOnce(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, n := range []int{1, 2, 10, 1000} {
		var l slab.Local[employee]
		list := fillLocal(t, &l, n)
		for _, p := range list {
			l.Free(p)
		}
		testkit.PanicText(t, secondFree(list[0]), func() { l.Free(list[0]) })
		healthy(t, &l, 0)
	}
}

// A second Free while other objects are in use is found when those are freed.
func TestLocalSecondFreeLater(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	list := fillLocal(t, &l, 10)
	l.Free(list[3])
	l.Free(list[3])
	for _, p := range append(list[:3:3], list[4:9]...) {
		l.Free(p)
	}
	testkit.PanicText(t, secondFree(list[3]), func() { l.Free(list[9]) })
	healthy(t, &l, 0)
}

// Two users that were given one object both free it.
func TestLocalSharedObject(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	list := fillLocal(t, &l, 10)
	l.Free(list[0])
	l.Free(list[0])
	a, b := l.Alloc(), l.Alloc()
	if a != b || a != list[0] {
		t.Fatal("the object was not handed out twice")
	}
	for _, p := range list[1:] {
		l.Free(p)
	}
	l.Free(a)
	testkit.PanicText(t, secondFree(list[0]), func() { l.Free(b) })
	healthy(t, &l, 0)
}

// A magazine that is full is where mistakes of a large Local are found.
func TestLocalMisuseFoundInFullMagazine(t *testing.T) {
	testkit.NeedsReuse(t)
	for name, mistake := range map[string]func(l *slab.Local[employee], freed *employee) (want string){
		"second": func(l *slab.Local[employee], freed *employee) string {
			l.Free(freed)
			return secondFree(freed)
		},
		"foreign": func(l *slab.Local[employee], _ *employee) string {
			p := new(employee)
			l.Free(p)
			return foreignFree(p)
		},
		"of another Local": func(l *slab.Local[employee], _ *employee) string {
			p := new(slab.Local[employee]).Alloc()
			l.Free(p)
			return foreignFree(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var l slab.Local[employee]
			list := fillLocal(t, &l, 10000)
			l.Trim() // empties the magazine
			l.Free(list[0])
			want := mistake(&l, list[0])
			n := 1
			got := func() (v any) {
				defer func() { v = recover() }()
				for ; n < 1100; n++ {
					l.Free(list[n])
				}
				return nil
			}()
			if got != any(want) {
				t.Fatalf("after %d more: %v, want %q", n, got, want)
			}
			healthy(t, &l, 10000-n-1)
		})
	}
}

// Several mistakes at a time: all are undone, and the first is reported.
func TestLocalSeveralMistakes(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	list := fillLocal(t, &l, 20)
	l.Free(list[0])
	for range 5 {
		l.Free(list[0])
		l.Free(new(employee))
	}
	testkit.PanicText(t, secondFree(list[0]), func() { l.Trim() })
	healthy(t, &l, 19)
}

func TestLocalForeignPointers(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[[2]int]
	list := fillLocal(t, &l, 1000)
	var global = new([2]int)
	for _, p := range []*[2]int{
		global,
		(*[2]int)(make([]int, 10)[3:]),
		// Half of an object, and half of the next.
		(*[2]int)(unsafe.Pointer(&list[0][1])),
		(*[2]int)(unsafe.Pointer(&list[500][1])),
	} {
		held := *p
		l.Free(p)
		*p = held
		testkit.PanicText(t, foreignFree(p), func() { l.Trim() })
		healthy(t, &l, 1000)
	}
}

// Objects without size cannot be told apart, but counted.
func TestLocalUnsizedMisuse(t *testing.T) {
	var l slab.Local[struct{}]
	p := l.Alloc()
	l.Free(p)
	testkit.PanicText(t, secondFree(p), func() { l.Free(p) })
	healthy(t, &l, 0)
}

// After Trim there may be no slab at all.
func TestLocalFreeAfterShrink(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	p := l.Alloc()
	l.Free(p)
	l.Trim()
	testkit.PanicText(t, foreignFree(p), func() { l.Free(p) })
	healthy(t, &l, 0)
}

// Free(nil), and Free in a Local that never allocated, are errors of Go's
// runtime, raised where Free is called, and change nothing.
func TestLocalRuntimeErrors(t *testing.T) {
	testkit.NeedsReuse(t)
	fails := func(want string, f func()) {
		t.Helper()
		err, ok := testkit.Panic(t, f).(runtime.Error)
		if !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("panic %v, want a runtime error with %q", err, want)
		}
	}
	var l slab.Local[employee]
	fails("index out of range", func() { l.Free(new(employee)) })
	fails("nil pointer", func() { l.Free(nil) })
	list := fillLocal(t, &l, 10)
	l.Free(list[0])
	fails("nil pointer", func() { l.Free(nil) })
	healthy(t, &l, 9)

	var unsized slab.Local[struct{}]
	unsized.Alloc()
	fails("nil pointer", func() { unsized.Free(nil) })
	healthy(t, &unsized, 1)
}

// A copy of a Local has no slabs of its own, and says so.
func TestLocalCopy(t *testing.T) {
	if check.Enabled {
		t.Skip("the check build reports it: check.TestScenarios")
	}
	var l slab.Local[employee]
	l.Free(l.Alloc())
	c := reflect.New(reflect.TypeFor[slab.Local[employee]]()).Elem()
	c.Set(reflect.ValueOf(&l).Elem())
	other := c.Addr().Interface().(*slab.Local[employee])
	testkit.PanicText(t, "slab: use of a copy of a Local[slab_test.employee]: pass a *Local", func() { other.Trim() })
	healthy(t, &l, 0)
}
