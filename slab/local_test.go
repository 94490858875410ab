package slab_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// An employee has pointers to its like and to the heap.
type employee struct {
	boss    *employee
	number  int
	name    string
	reports []*employee
}

// checkLocal fails the test if the Local's numbers do not add up.
func checkLocal[T any](t testing.TB, l *slab.Local[T]) slab.LocalStats {
	t.Helper()
	s := l.Stats()
	if s.Objects != s.InUse+s.Cached+s.Resting || s.InUse < 0 || s.Cached < 0 || s.Resting < 0 {
		t.Fatalf("does not add up: %+v", s)
	}
	if s.Bytes != s.Objects*s.ObjectSize || s.ObjectSize != int(unsafe.Sizeof(*new(T))) || s.Type != reflect.TypeFor[T]().String() {
		t.Fatalf("of %v: %+v", reflect.TypeFor[T](), s)
	}
	if s.ObjectSize > 0 && (s.Slabs == 0) != (s.Objects == 0) {
		t.Fatalf("slabs: %+v", s)
	}
	return s
}

func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// fillLocal allocates n objects and checks that they are zero and apart.
func fillLocal[T any](t testing.TB, l *slab.Local[T], n int) []*T {
	t.Helper()
	list := make([]*T, n)
	addresses := make([]uintptr, n)
	for i := range list {
		p := l.Alloc()
		if !reflect.ValueOf(p).Elem().IsZero() {
			t.Fatalf("object %d is %v", i, *p)
		}
		list[i], addresses[i] = p, addressOf(p)
	}
	size := unsafe.Sizeof(*new(T))
	slices.Sort(addresses)
	for i := 1; i < n && size > 0; i++ {
		if addresses[i]-addresses[i-1] < size {
			t.Fatalf("objects of %d bytes at %#x and %#x", size, addresses[i-1], addresses[i])
		}
	}
	return list
}

// roundTrip allocates, writes, frees and allocates again, in amounts below and
// above what the magazine holds.
func roundTrip[T any](t *testing.T, value T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		var l slab.Local[T]
		most := 0
		for _, n := range []int{1, 2, 7, 40, 300, 1023, 1024, 1025, 3000, 5, 0, 3000} {
			if n*int(unsafe.Sizeof(value)) > 10<<20 {
				continue
			}
			list := fillLocal(t, &l, n)
			for _, p := range list {
				*p = value
			}
			if s := checkLocal(t, &l); s.InUse != n {
				t.Fatalf("%d objects in use: %+v", n, s)
			}
			if n%2 == 0 {
				slices.Reverse(list)
			}
			for _, p := range list {
				l.Free(p)
			}
			most = max(most, n)
			s := checkLocal(t, &l)
			if s.InUse != 0 {
				t.Fatalf("no object in use: %+v", s)
			}
			if s.ObjectSize > 0 && s.Objects > 2*most+1100 && !check.Enabled {
				t.Fatalf("at most %d objects were in use: %+v", most, s)
			}
		}
		bytes := checkLocal(t, &l).Bytes
		if n := l.Trim(); n != bytes {
			t.Errorf("Trim returned %d of %d free bytes", n, bytes)
		}
		if s := checkLocal(t, &l); s.Objects != 0 || s.Bytes != 0 {
			t.Errorf("after Trim: %+v", s)
		}
		fillLocal(t, &l, 100)
	})
}

func TestLocalTypes(t *testing.T) {
	roundTrip[byte](t, 1)
	roundTrip[int64](t, -1)
	roundTrip(t, "text")
	roundTrip[any](t, 1.5)
	roundTrip(t, []int{1})
	roundTrip(t, new(int))
	roundTrip(t, [3]uint16{1, 2, 3})
	roundTrip(t, struct{}{})
	roundTrip(t, [0]int{})
	roundTrip(t, employee{name: "n", number: 1})
	roundTrip(t, [100]byte{99: 1})
	roundTrip(t, [90]*int{})
	roundTrip(t, [5000]byte{4999: 1})
	roundTrip(t, [70000]byte{69999: 1})
	roundTrip(t, [1 << 18]byte{1<<18 - 1: 1})
	roundTrip(t, map[string]int{"a": 1})
}

// The object freed last is handed out first.
func TestLocalLIFO(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	list := fillLocal(t, &l, 10)
	for _, p := range list {
		p.number = 1
		l.Free(p)
	}
	for _, p := range slices.Backward(list) {
		if q := l.Alloc(); q != p || q.number != 0 {
			t.Errorf("got %p with %d, want %p with 0", q, q.number, p)
		}
	}
}

// Objects are taken from the lowest addresses, so that the slabs above empty
// out, and in the order of their addresses.
func TestLocalAddressOrder(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[employee]
	list := fillLocal(t, &l, 20000)
	for s := l.Stats(); s.InUse < s.Objects; s = l.Stats() { // or those that rest come first, if their slab does
		list = append(list, l.Alloc())
	}
	slices.SortFunc(list, func(a, b *employee) int { return int(int64(addressOf(a)) - int64(addressOf(b))) })
	var free []*employee
	for i, p := range list {
		if i%5 != 0 { // no slab is without an object in use
			free = append(free, p)
		}
	}
	for i := range free { // in an order without any
		l.Free(free[i*7919%len(free)])
	}
	if n := l.Trim(); n != 0 {
		t.Fatalf("Trim returned %d bytes of slabs in which objects are in use", n)
	}
	for i := range 2000 {
		if p := l.Alloc(); p != free[i] {
			t.Fatalf("allocation %d is at %p, want %p", i, p, free[i])
		}
	}
}

// A Local with a few objects takes little memory.
func TestLocalSmall(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	const n = 100
	kept := make([]*slab.Local[employee], n)
	got := testkit.Taken(func() {
		for i := range kept {
			kept[i] = new(slab.Local[employee])
			kept[i].Alloc()
		}
	}) / n
	if got > 1200 {
		t.Errorf("a Local with one object takes %d bytes", got)
	}
	t.Logf("a Local with one object takes %d bytes", got)
	runtime.KeepAlive(kept)
}

// What a Local takes from the heap beyond its objects is little, and while it
// grows the objects that were never used are no more than those that were, and
// at most a slab once there are several.
func TestLocalGrowth(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	for _, n := range []int{1000, 30000, 1000000} {
		var s slab.LocalStats
		got := testkit.Taken(func() {
			var l slab.Local[employee]
			for range n {
				l.Alloc()
			}
			s = l.Stats()
		})
		if float64(got) > 1.05*float64(s.Bytes)+20000 {
			t.Errorf("%d objects in slabs of %d bytes take %d", n, s.Bytes, got)
		}
		if s.Objects > 2*n || s.Bytes > n*s.ObjectSize+max(64<<10, s.Bytes/60) {
			t.Errorf("%d objects: %+v", n, s)
		}
		if s.Slabs > 400 { // which are in order, and searched
			t.Errorf("%d slabs", s.Slabs)
		}
	}
}

// A program that allocates and frees in turn does not move objects between the
// magazine and the slabs at every step, wherever it stands when it begins.
func TestLocalDoesNotThrash(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[int64]
	var list []*int64
	alloc := func() { list = append(list, l.Alloc()) }
	free := func() {
		l.Free(list[len(list)-1])
		list = list[:len(list)-1]
	}
	for n := range 4500 {
		for len(list) < n {
			alloc()
		}
		for len(list) > n*(n%4)/3 { // none, some or all
			free()
		}
		if n%7 == 0 {
			l.Trim()
		}
		swings := [][]func(){{alloc, alloc, free, free}, {free, free, alloc, alloc}}
		if len(list) < 2 {
			swings = swings[:1]
		}
		for _, swing := range swings {
			moves, last := 0, l.Stats().Resting
			for range 20 {
				for _, f := range swing {
					f()
					if r := l.Stats().Resting; r != last {
						moves, last = moves+1, r
					}
				}
			}
			if moves > 2 {
				t.Fatalf("%d objects, %d in use: objects were moved %d times", n, len(list), moves)
			}
		}
	}
}

func TestLocalSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	var l slab.Local[employee]
	list := make([]*employee, 5000)
	run := func() {
		for i := range list {
			list[i] = l.Alloc()
			list[i].number = i
		}
		for i := range list {
			l.Free(list[i*7919%len(list)])
		}
	}
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocs/op, want 0", n)
	}
}

// What objects refer to lives as long as they are in use, and no longer.
func TestLocalGC(t *testing.T) {
	for _, n := range []int{3, 5000} {
		var boxes testkit.Census
		l := new(slab.Local[employee])
		list := fillLocal(t, l, n)
		for _, p := range list {
			p.boss = testkit.Enroll(&boxes, &employee{number: 7})
		}
		list2 := list[:n/2]
		for _, p := range list[n/2:] {
			l.Free(p)
		}
		testkit.CollectGarbage()
		if boxes.Alive() != len(list2) {
			t.Errorf("%d objects in use refer to %d that live", len(list2), boxes.Alive())
		}
		for _, p := range list2 {
			if p.boss.number != 7 {
				t.Fatal("changed")
			}
		}
		runtime.KeepAlive(l)
	}
}

// A Local that is dropped goes, and with it its objects, those that were never
// freed included; an object that is kept keeps its slab only.
func TestLocalIsCollected(t *testing.T) {
	var locals, boxes testkit.Census
	var kept *employee
	for range 20 {
		l := testkit.Enroll(&locals, new(slab.Local[employee]))
		for i := range 3000 {
			p := l.Alloc()
			p.boss = testkit.Enroll(&boxes, new(employee))
			if i%3 == 0 {
				l.Free(p)
			}
			kept = p
		}
		l.Alloc()
	}
	testkit.CollectGarbage()
	if n := locals.Alive(); n != 0 {
		t.Errorf("%d Locals live", n)
	}
	if n := boxes.Alive(); n == 0 || n > 3000 || kept.boss == nil {
		t.Errorf("%d objects that were referred to live, want those of one slab", n)
	}
}

// Trim gives slabs without an object in use to the garbage collector, and
// nothing else.
func TestLocalShrink(t *testing.T) {
	testkit.NeedsReuse(t)
	var l slab.Local[[64]byte]
	if n := l.Trim(); n != 0 {
		t.Errorf("Trim of a zero Local returned %d", n)
	}
	const n = 200000
	before := testkit.HeapInUse()
	list := fillLocal(t, &l, n)
	for i, p := range list {
		p[63] = byte(i) | 1
	}
	kept := append([]*[64]byte(nil), list[:1000]...)
	kept = append(kept, list[n-1])
	for _, p := range list[1000 : n-1] {
		l.Free(p)
	}
	clear(list)
	s := checkLocal(t, &l)
	got := l.Trim()
	after := checkLocal(t, &l)
	if got != s.Bytes-after.Bytes || after.InUse != len(kept) || after.Cached != 0 {
		t.Errorf("Trim returned %d\n%+v\n%+v", got, s, after)
	}
	if after.Bytes > 64*1000*3+s.Bytes/50 {
		t.Errorf("%d bytes in slabs for %d objects of 64", after.Bytes, len(kept))
	}
	if inUse := testkit.HeapInUse(); inUse > before+uint64(after.Bytes)+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes for slabs of %d", before, inUse, after.Bytes)
	}
	for i, p := range kept[:1000] {
		if p[63] != byte(i)|1 {
			t.Fatalf("object %d changed", i)
		}
	}
	fillLocal(t, &l, 10000)
	for _, p := range kept {
		l.Free(p)
	}
	if s := checkLocal(t, &l); s.InUse != 10000 {
		t.Errorf("%+v", s)
	}
	if l.Trim() == 0 {
		t.Error("Trim found no slab")
	}
}

// A Local keeps no pointer into the slabs that Trim gave away.
func TestLocalShrinkLetsGo(t *testing.T) {
	for _, n := range []int{1, 10, 3000} {
		var objects testkit.Census
		l := new(slab.Local[employee])
		for _, p := range fillLocal(t, l, n) {
			l.Free(testkit.Enroll(&objects, p))
		}
		l.Trim()
		testkit.CollectGarbage()
		if alive := objects.Alive(); alive != 0 {
			t.Errorf("%d of %d objects live after Trim", alive, n)
		}
		runtime.KeepAlive(l)
	}
}

func TestLocalString(t *testing.T) {
	var l slab.Local[int64]
	l.Free(l.Alloc())
	l.Alloc()
	s := l.Stats()
	want := fmt.Sprintf("Local of int64: 1 of %d objects of 8 bytes in use, %d cached, 1 slab, %d bytes", s.Objects, s.Objects-1, s.Objects*8)
	if got := l.String(); got != want || s.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(new(slab.Local[int]).String(), "%") {
		t.Error("bad format")
	}
}
