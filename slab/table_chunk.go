package slab

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/sanitize"
)

// placeOf returns the place of slot i of chunk c.
func placeOf(c, i int) uint32 { return uint32(c<<placeBits | i) }

// tableChunkLen returns how many slots of size bytes the chunk has that follows
// so many slots: about a quarter of those, so that no more than a quarter of a
// table is unused, but for those of a few slots; as many as fill the size class
// of Go's heap; and no more than a place can number. It makes four chunks for
// each doubling. All tables of a type have chunks of the same lengths.
func tableChunkLen(slots int, size uintptr) int {
	want := uintptr(slots) * size / 4
	if want < 32<<10 {
		want /= 2 // which Elems may double
	}
	return min(chunk.Elems(want, size), maxSlots)
}

// bind makes t that of front, a *Table[T], once. A copy of a Table has a type already, and
// is elsewhere.
//
//go:noinline
func (t *table) bind(front any) *table {
	if t.self == t {
		return t
	}
	if t.typ != nil && !check.Enabled { // which reports it, with stacks, and goes on
		panic(fmt.Sprintf("slab: use of a copy of a Table[%v]: pass a *Table", t.typ))
	}
	chunks := reflect.ValueOf(front).Elem().Field(1) // Table.chunks
	// SAFETY: the chunks are slices of larger structs that begin with a slotHead. Here
	// they are made, moved and counted; what lies in them, head finds.
	t.chunks = (*[][]slotHead)(chunks.Addr().UnsafePointer())
	t.self = t
	t.chunk = chunks.Type().Elem()
	t.slotSize = t.chunk.Elem().Size()
	t.elem = elemOf(typeOf(t.chunk.Elem()), check.Enabled)
	return t
}

// typeOf returns the type of the element of a slot.
func typeOf(slot reflect.Type) reflect.Type { return slot.Field(2).Type }

// configure sets what the settings say.
func (t *table) configure(given []TableConfig) {
	conf := config.Optional("slab", "NewTable", given)
	checkCapacity("slab: TableConfig.Capacity", conf.Capacity)
	t.name, t.capacity = conf.Name, conf.Capacity
}

// mustMore is more that panics with the error.
//
//go:noinline
func (t *table) mustMore(front any) {
	if err := t.more(front); err != nil {
		panic(err)
	}
}

// more makes an unused slot the first free one, of which there is none.
func (t *table) more(front any) error {
	if t.self != t {
		t.bind(front)
	}
	if t.capacity > 0 && t.len >= t.capacity {
		return fmt.Errorf("%w: %s has %s", ErrExhausted, t.title(), account.Count(t.len, "element"))
	}
	if t.unused == 0 {
		if err := t.grow(); err != nil {
			return err
		}
	}
	c := len(*t.chunks) - 1
	i := len((*t.chunks)[c]) - t.unused
	t.unused--
	t.head(c, i).gen = t.start
	t.free = placeOf(c, i)
	return nil
}

// head returns the head of slot i of chunk c.
func (t *table) head(c, i int) *slotHead {
	// SAFETY: GC.md fact 1: the chunk has that many slots, of the size of their type.
	return (*slotHead)(unsafe.Add(unsafe.Pointer(unsafe.SliceData((*t.chunks)[c])), uintptr(i)*t.slotSize))
}

// grow adds a chunk.
func (t *table) grow() error {
	t.checkInvariants()
	if len(*t.chunks) == 0 {
		t.start = rand.Uint32() &^ 1
		*t.chunks = make([][]slotHead, 1, 4)
	}
	if len(*t.chunks) > maxChunks {
		return fmt.Errorf("%w: %s has %d slots, all that a handle can name", ErrExhausted, t.title(), t.slots)
	}
	n := tableChunkLen(t.slots, t.slotSize)
	mem := reflect.MakeSlice(t.chunk, n, n).UnsafePointer()
	*t.chunks = append(*t.chunks, unsafe.Slice((*slotHead)(mem), n))
	if sanitize.Poisons {
		off := t.chunk.Elem().Field(2).Offset
		for i := range n {
			sanitize.Withhold(unsafe.Add(unsafe.Pointer(t.head(len(*t.chunks)-1, i)), off), t.size)
		}
	}
	t.slots += n
	t.unused = n
	return nil
}

// title returns what messages call the table.
func (t *table) title() string { return account.Title("table", t.name) }

// checkInvariants verifies, in the check build only, what is so when no slot is
// free: each is in use, or retired, or waits as the check build has it.
func (t *table) checkInvariants() {
	if !check.Enabled {
		return
	}
	live, retired, slots := 0, 0, 0
	for c, chunk := range *t.chunks {
		slots += len(chunk)
		for i := range chunk {
			if s := t.head(c, i); s.gen%2 == 1 {
				live++
			} else if s.gen == t.start {
				retired++
			}
		}
	}
	if slots != t.slots || live != t.len || retired != t.retired || slots != live+retired+t.watch.Waiting() {
		panic(fmt.Sprintf("slab: %d slots, %d in use, %d retired: %v", slots, live, retired, t))
	}
}
