package slab_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

func TestHandle(t *testing.T) {
	if n := unsafe.Sizeof(slab.Handle[folder]{}); n != 8 {
		t.Errorf("a handle has %d bytes", n)
	}
	if typ := reflect.TypeFor[slab.Handle[*folder]](); !typ.Comparable() || layout.Of(typ).Pointers != 0 {
		t.Errorf("%v has pointers or cannot be compared", typ)
	}
}

// The zero Handle names nothing: not in an empty table, not when the first slot
// is free, in use, or at the generation 0.
func TestHandleZero(t *testing.T) {
	var zero slab.Handle[station]
	none := func(table *slab.Table[station]) {
		t.Helper()
		if p, ok := table.Get(zero); ok || p != nil {
			t.Errorf("Get of the zero Handle: %v, %t", p, ok)
		}
		if table.Remove(zero) {
			t.Error("Remove of the zero Handle")
		}
		checkTable(t, table)
	}
	for _, start := range []uint32{0, 2, 1<<32 - 2, 1 << 31} {
		table := slab.TableFrom[station](start)
		none(table)
		h, _ := table.Insert(station{})
		if h == zero {
			t.Error("Insert returned the zero Handle")
		}
		none(table)
		table.Remove(h)
		none(table)
		stations(table, 1000)
		none(table)
	}
	none(new(slab.Table[station]))
}

// A handle survives being a number, and no other number is a handle that matches:
// neither that of a removed element nor one that looks like a free slot.
func TestHandleOf(t *testing.T) {
	table := slab.TableFrom[station](1<<32 - 2)
	var live, stale []slab.Handle[station]
	for i, h := range stations(table, 5000) {
		if i%3 == 0 {
			table.Remove(h)
			stale = append(stale, h)
		} else {
			live = append(live, h)
		}
	}
	for _, h := range live {
		if got := slab.HandleOf[station](h.Uint64()); got != h {
			t.Fatalf("%v is %v after it was a number", h, got)
		}
		for _, other := range []uint64{h.Uint64() - 1, h.Uint64() + 1, h.Uint64() + 2, h.Uint64() << 32, h.Uint64() >> 32} {
			if _, ok := table.Get(slab.HandleOf[station](other)); ok {
				t.Fatalf("%#x matches, which is not %#x", other, h.Uint64())
			}
		}
	}
	for _, h := range stale {
		for d := range uint64(8) {
			if o := slab.HandleOf[station](h.Uint64() - 4 + d); table.Remove(o) {
				t.Fatalf("%v matches in the slot of %v, which was removed", o, h)
			}
		}
	}
	for _, n := range []uint64{0, 1, 1 << 32, 1<<32 | 1, 1<<64 - 1, 1<<64 - 2, 3<<54 | 1} {
		h := slab.HandleOf[station](n)
		if _, ok := table.Get(h); ok || h.Uint64() != n && h != (slab.Handle[station]{}) {
			t.Errorf("%#x is %v, in the table: %t", n, h, ok)
		}
	}
	checkTable(t, table)
}

// A handle of one table is refused by another of the same type, whose
// generations begin elsewhere; by chance alone they begin at the same number.
func TestHandleOfAnotherTable(t *testing.T) {
	starts := map[uint32]bool{}
	for range 100 {
		var a, b slab.Table[station]
		as, bs := stations(&a, 1000), stations(&b, 1000)
		starts[slab.StartOf(&a)] = true
		if slab.StartOf(&a)%2 != 0 {
			t.Fatalf("generations begin at %d", slab.StartOf(&a))
		}
		for i := range as {
			if _, ok := a.Get(bs[i]); ok {
				t.Fatalf("a handle of another table, %v, is not refused; mine is %v", bs[i], as[i])
			}
			if b.Remove(as[i]) {
				t.Fatal("Remove took a handle of another table")
			}
		}
		var empty slab.Table[station]
		if _, ok := empty.Get(as[0]); ok {
			t.Fatal("found in an empty table")
		}
	}
	if len(starts) < 95 { // 2³¹ numbers, of which two are the same once in 400,000 runs
		t.Errorf("100 tables begin at %d numbers", len(starts))
	}
	// What the documentation warns of.
	a, b := slab.TableFrom[station](42), slab.TableFrom[station](42)
	if _, ok := a.Get(stations(b, 1)[0]); ok {
		t.Error("found in an empty table")
	}
	stations(a, 1)
	if _, ok := a.Get(stations(slab.TableFrom[station](42), 1)[0]); !ok {
		t.Error("tables that begin at the same number do not have the same handles: what else tells them apart?")
	}
}

// A slot is retired before its generations come round, and its handles never
// match again.
func TestHandleRetires(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, start := range []uint32{0, 2, 1<<32 - 2, 1 << 31, 123456} {
		table := slab.TableFrom[station](start, slab.TableConfig{Capacity: 10})
		list := stations(table, 10)
		h := list[4]
		table.Remove(h)
		stale := []slab.Handle[station]{h}
		refused := func() {
			t.Helper()
			for _, h := range stale {
				if _, ok := table.Get(h); ok {
					t.Fatalf("start %d: stale handle %v matches", start, h)
				}
			}
		}
		h, _ = table.Insert(station{})
		stale = append(stale, h) // Age ends it
		h = slab.Age(table, h, 3)
		for life := range 3 {
			if p, ok := table.Get(h); !ok {
				t.Fatalf("start %d, life %d: %v, %t", start, life, p, ok)
			}
			refused()
			table.Remove(h)
			stale = append(stale, h)
			refused()
			if s := checkTable(t, table); (s.Retired == 1) != (life == 2) {
				t.Fatalf("start %d, life %d: %+v", start, life, s)
			}
			h, _ = table.Insert(station{})
		}
		stale = append(stale, list[4])
		refused()
		if h2 := h; placeText(h2) == placeText(list[4]) {
			t.Errorf("start %d: the retired slot was used for %v", start, h2)
		}
		// The capacity counts elements, so another slot takes its place.
		if s := checkTable(t, table); s.InUse != 10 || s.Retired != 1 {
			t.Errorf("start %d: %+v", start, s)
		}
		if _, _, err := table.TryInsert(station{}); err == nil {
			t.Errorf("start %d: one element too many", start)
		}
		n := 0
		for range table.All() {
			n++
		}
		if n != 10 {
			t.Errorf("start %d: %d elements", start, n)
		}
	}
}

// placeText returns the part of a handle's text that names the slot.
func placeText[T any](h slab.Handle[T]) string {
	place, _, _ := strings.Cut(h.String(), ".")
	return place
}

func TestHandleString(t *testing.T) {
	testkit.NeedsReuse(t)
	table := slab.TableFrom[station](100)
	list := stations(table, 20000) // many chunks
	for i, h := range list {
		if got, want := h.String(), fmt.Sprintf("station#%d.101", i); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	table.Remove(list[17])
	h, _ := table.Insert(station{})
	if got := fmt.Sprint(h); got != "station#17.103" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(slab.Handle[station]{}); got != "station#none" {
		t.Errorf("got %s", got)
	}
	big := slab.TableFrom[[9000]byte](2)
	for i := range 40 {
		if h, _ := big.Insert([9000]byte{}); h.String() != fmt.Sprintf("[9000]uint8#%d.3", i) {
			t.Errorf("got %v for element %d", h, i)
		}
	}
}
