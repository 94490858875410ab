package slab_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/metrics"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A station is linked by handles and has no pointers.
type station struct {
	next, prev slab.Handle[station]
	number     int64
}

// A folder has pointers.
type folder struct {
	number int
	name   *string
	parent slab.Handle[folder]
}

// checkTable fails the test if something about the table is not as it should be.
func checkTable[T any](t testing.TB, table *slab.Table[T]) slab.TableStats {
	t.Helper()
	if err := slab.CheckTable(table); err != nil {
		t.Fatal(err)
	}
	s := table.Stats()
	if s.Slots != s.InUse+s.Free+s.Retired || s.InUse != table.Len() || s.Free < 0 || s.Retired < 0 ||
		s.Bytes != s.Slots*s.SlotSize || s.SlotSize != int(slab.SlotType[T]().Size()) || s.Type != reflect.TypeFor[T]().String() {
		t.Fatalf("does not add up: %+v", s)
	}
	if s.Capacity > 0 && s.InUse > s.Capacity {
		t.Fatalf("over capacity: %+v", s)
	}
	return s
}

// stations fills a table.
func stations(table *slab.Table[station], n int) []slab.Handle[station] {
	list := make([]slab.Handle[station], n)
	for i := range list {
		list[i], _ = table.Insert(station{number: int64(i)})
	}
	return list
}

func TestTable(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, table := range []*slab.Table[station]{{}, slab.NewTable[station](), slab.NewTable[station](slab.TableConfig{Name: "n", Capacity: 100000})} {
		if table.Len() != 0 {
			t.Error("not empty")
		}
		h, p := table.Insert(station{number: 5})
		if q, ok := table.Get(h); !ok || q != p || q.number != 5 {
			t.Errorf("Get: %v, %t", q, ok)
		}
		p.number++
		if q, _ := table.Get(h); q.number != 6 {
			t.Errorf("changed to 6, reads %d", q.number)
		}
		if !table.Remove(h) || table.Remove(h) {
			t.Error("Remove reports false, or true twice")
		}
		if q, ok := table.Get(h); ok || q != nil {
			t.Errorf("Get of a removed element: %v, %t", q, ok)
		}
		if !sanitize.Poisons && p.number != 0 {
			t.Error("the removed element is not zero")
		}
		if h2, p2, err := table.TryInsert(station{number: 7}); err != nil || p2 != p || h2 == h || table.Len() != 1 {
			t.Errorf("the slot is not used again: %v and %v", h, h2)
		}
		if _, ok := table.Get(h); ok {
			t.Error("a stale handle matches the slot's next element")
		}
		checkTable(t, table)
	}
}

// Pointers and handles stay good while the table grows by many chunks.
func TestTableGrows(t *testing.T) {
	var table slab.Table[folder]
	const n = 100000
	handles := make([]slab.Handle[folder], n)
	pointers := make([]*folder, n)
	seen := map[slab.Handle[folder]]bool{}
	for i := range handles {
		handles[i], pointers[i] = table.Insert(folder{number: i})
		seen[handles[i]] = true
	}
	if len(seen) != n || table.Len() != n {
		t.Errorf("%d handles and %d elements, want %d", len(seen), table.Len(), n)
	}
	for i, h := range handles {
		if p, ok := table.Get(h); !ok || p != pointers[i] || p.number != i {
			t.Fatalf("element %d: %v, %t", i, p, ok)
		}
	}
	s := checkTable(t, &table)
	if s.Chunks < 10 || s.Free > s.Slots/4 {
		t.Errorf("%+v", s)
	}
}

// Chunks are few however large the table is, and a small table is small.
func TestTableChunks(t *testing.T) {
	check := func(name string, slots, longest, chunks int) {
		t.Logf("%s: %d slots at most, in chunks of up to %d; %d chunks for 8 million", name, slots, longest, chunks)
		if uint64(slots) < 3900e6 && ^uint(0)>>32 != 0 {
			t.Errorf("%s: no more than %d slots", name, slots)
		}
		if longest > 1<<22 || chunks > 90 {
			t.Errorf("%s: chunks of %d slots, %d chunks for 8 million", name, longest, chunks)
		}
	}
	if ^uint(0)>>32 != 0 { // the sums are larger than an int of 32 bits
		slots, longest, chunks := slab.MaxSlots[station](8e6)
		check("station", slots, longest, chunks)
		slots, longest, chunks = slab.MaxSlots[[300]byte](8e6)
		check("300 bytes", slots, longest, chunks)
		slots, longest, chunks = slab.MaxSlots[struct{}](8e6)
		check("no bytes", slots, longest, chunks)
	}
	var table slab.Table[station]
	for n := range 50000 {
		table.Insert(station{})
		if s := table.Stats(); s.Bytes > 4096 && s.Free > s.Slots/4 || n < 10 && s.Bytes > 512 {
			t.Fatalf("%d elements: %+v", n+1, s)
		}
	}
}

func TestTableTypes(t *testing.T) {
	tableOf(t, byte(1))
	tableOf(t, "text")
	tableOf(t, struct{}{})
	tableOf(t, any(5))
	tableOf(t, [5000]byte{1: 1})
	tableOf(t, [3]uint16{1, 2, 3})
	tableOf(t, new(int))
	tableOf(t, 1.5)
}

func tableOf[T comparable](t *testing.T, v T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		var table slab.Table[T]
		var handles []slab.Handle[T]
		var pointers = map[*T]bool{}
		for range 1000 {
			h, p := table.Insert(v)
			handles = append(handles, h)
			pointers[p] = true
		}
		if len(pointers) != 1000 {
			t.Errorf("%d places for 1000 elements", len(pointers))
		}
		for i, h := range handles {
			if p, ok := table.Get(h); !ok || *p != v || uintptr(unsafe.Pointer(p))%unsafe.Alignof(v) != 0 {
				t.Fatalf("element %d at %p: %t", i, p, ok)
			}
			if i%2 == 0 {
				table.Remove(h)
			}
		}
		if s := checkTable(t, &table); s.InUse != 500 {
			t.Errorf("%+v", s)
		}
	})
}

// The capacity is exact, and has nothing to do with the lengths of chunks.
func TestTableCapacity(t *testing.T) {
	for _, n := range []int{1, 10, 21, 22, 1000} {
		table := slab.NewTable[station](slab.TableConfig{Name: "seats", Capacity: n})
		list := stations(table, n)
		want := `slab: capacity reached: table "seats" has ` + account.Count(n, "element")
		h, p, err := table.TryInsert(station{})
		if !errors.Is(err, slab.ErrExhausted) || err.Error() != want || p != nil || h != (slab.Handle[station]{}) {
			t.Errorf("TryInsert: %v, %v, %v", h, p, err)
		}
		if err, ok := testkit.Panic(t, func() { table.Insert(station{}) }).(error); !ok || !errors.Is(err, slab.ErrExhausted) {
			t.Errorf("Insert panics with %v", err)
		}
		for _, h := range list {
			table.Remove(h)
			if _, _, err := table.TryInsert(station{}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := table.TryInsert(station{}); err == nil {
				t.Fatal("one element too many")
			}
		}
		checkTable(t, table)
	}
}

// There is an end to the numbers that handles have for slots.
func TestTableOutOfSlots(t *testing.T) {
	testkit.NeedsReuse(t)
	table := slab.NewTable[station](slab.TableConfig{Name: "all"})
	list := stations(table, 1)
	for table.Stats().Free > 0 {
		stations(table, 1)
	}
	slab.UseUpPlaces(table)
	if _, _, err := table.TryInsert(station{}); !errors.Is(err, slab.ErrExhausted) ||
		err.Error() != fmt.Sprintf("slab: capacity reached: table \"all\" has %d slots, all that a handle can name", table.Stats().Slots) {
		t.Error(err)
	}
	table.Remove(list[0])
	h, _ := table.Insert(station{number: 3})
	if p, ok := table.Get(h); !ok || p.number != 3 {
		t.Error("a free slot is not used")
	}
}

// A copy of a table has no chunks of its own, and says so.
func TestTableCopy(t *testing.T) {
	if check.Enabled {
		t.Skip("the check build reports it: check.TestScenarios")
	}
	var table slab.Table[folder]
	h, p := table.Insert(folder{})
	other := reflect.New(reflect.TypeFor[slab.Table[folder]]())
	other.Elem().Set(reflect.ValueOf(&table).Elem())
	testkit.PanicText(t, "slab: use of a copy of a Table[slab_test.folder]: pass a *Table", func() { other.Interface().(*slab.Table[folder]).Insert(folder{}) })
	if q, ok := table.Get(h); !ok || q != p {
		t.Errorf("Get returns %p, %v; want %p, true", q, ok, p)
	}
	checkTable(t, &table)
}

func TestTableString(t *testing.T) {
	table := slab.NewTable[int64](slab.TableConfig{Name: "x"})
	h, _ := table.Insert(1)
	table.Insert(2)
	table.Remove(h)
	s := table.Stats()
	want := fmt.Sprintf("table \"x\" of int64: 1 element, %d of %d slots free, 0 retired, 1 chunk, %d bytes", s.Slots-1, s.Slots, s.Bytes)
	if got := table.String(); got != want || s.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := new(slab.Table[int]).String(), "a table without a name of int: 0 elements, 0 of 0 slots free, 0 retired, 0 chunks, 0 bytes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	var table slab.Table[folder]
	list := make([]slab.Handle[folder], 1000)
	if n := testing.AllocsPerRun(20, func() {
		for i := range list {
			list[i], _ = table.Insert(folder{number: i})
		}
		sum := 0
		for h, p := range table.All() {
			if q, ok := table.Get(h); ok && p == q {
				sum += p.number
			}
		}
		if sum != 999*1000/2 {
			t.Errorf("sum %d", sum)
		}
		for _, h := range list {
			table.Remove(h)
		}
	}); n != 0 {
		t.Errorf("%v allocs/op, want 0", n)
	}
}

// What elements refer to lives until they are removed.
func TestTableGC(t *testing.T) {
	var names testkit.Census
	table := new(slab.Table[folder])
	var list []slab.Handle[folder]
	for i := range 5000 {
		name := fmt.Sprint("name ", i)
		h, p := table.Insert(folder{number: i})
		p.name = testkit.Enroll(&names, &name)
		list = append(list, h)
	}
	for _, h := range list[1000:] {
		table.Remove(h)
	}
	testkit.CollectGarbage()
	if n := names.Alive(); n != 1000 {
		t.Errorf("1000 elements refer to %d names that live", n)
	}
	for i, h := range list[:1000] {
		if p, ok := table.Get(h); !ok || *p.name != fmt.Sprint("name ", i) {
			t.Fatalf("element %d: %v", i, p)
		}
	}
	runtime.KeepAlive(table)
	table = nil
	testkit.CollectGarbage()
	if n := names.Alive(); n != 0 {
		t.Errorf("%d names of a dropped table live", n)
	}
}

// A slot is used again: at once, and in the check build when as much was removed after it
// as the quarantine holds.
func TestTableUsesSlotsAgain(t *testing.T) {
	type page [64 << 10]byte
	var table slab.Table[page]
	const n = 1 << 11 // twice the quarantine
	for i := range n {
		h, p := table.Insert(page{})
		if p[i%len(p)] != 0 {
			t.Fatalf("element %d is not zero", i)
		}
		p[i%len(p)] = 1
		table.Remove(h)
	}
	if s := table.Stats(); s.Slots >= n*3/4 {
		t.Errorf("%d slots for one element at a time: %v", s.Slots, s)
	}
}

// scanned returns the bytes of the heap that a collection scans.
func scanned() uint64 {
	testkit.CollectGarbage()
	s := []metrics.Sample{{Name: "/gc/scan/heap:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// The collector skips the memory of a table of a type without pointers: by the
// layout of its slots, and as measured.
func TestTableIsNotScanned(t *testing.T) {
	testkit.NeedsReuse(t)
	if n := layout.Of(slab.SlotType[station]()).Pointers; n != 0 {
		t.Errorf("a slot of a type without pointers has %d", n)
	}
	if n := layout.Of(slab.SlotType[folder]()).Pointers; n != 1 {
		t.Errorf("a slot of a type with one pointer has %d", n)
	}
	const n = 200000
	before := scanned()
	var free slab.Table[station]
	stations(&free, n)
	between := scanned()
	var full slab.Table[folder]
	for range n {
		full.Insert(folder{})
	}
	after := scanned()
	if got := int64(between - before); got > n {
		t.Errorf("%d bytes are scanned for %d stations in %d bytes", got, n, free.Stats().Bytes)
	}
	if got := int64(after - between); got < n*int64(unsafe.Sizeof(uintptr(0))) {
		t.Errorf("%d bytes are scanned for %d folders: the measurement is wrong", got, n)
	}
	runtime.KeepAlive(&free)
	runtime.KeepAlive(&full)
}
