package slab

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
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

// more makes an unused slot the first free one, of which there is none.
func (t *Table[T]) more() error {
	if t.capacity > 0 && t.len >= t.capacity {
		return fmt.Errorf("%w: %s has %d elements", ErrExhausted, t.title(), t.len)
	}
	if t.unused == 0 {
		if err := t.grow(); err != nil {
			return err
		}
	}
	c := len(t.chunks) - 1
	i := len(t.chunks[c]) - t.unused
	t.unused--
	t.chunks[c][i].gen = t.start
	t.free = placeOf(c, i)
	return nil
}

// grow adds a chunk.
func (t *Table[T]) grow() error {
	t.checkInvariants()
	if len(t.chunks) == 0 {
		t.start = rand.Uint32() &^ 1
		t.chunks = make([][]tableSlot[T], 1, 4)
	}
	if len(t.chunks) > maxChunks {
		return fmt.Errorf("%w: %s has %d slots, all that a handle can name", ErrExhausted, t.title(), t.slots)
	}
	n := tableChunkLen(t.slots, unsafe.Sizeof(tableSlot[T]{}))
	t.chunks = append(t.chunks, make([]tableSlot[T], n))
	if sanitize.Poisons {
		for i := range n {
			t.chunks[len(t.chunks)-1][i].withhold()
		}
	}
	t.slots += n
	t.unused = n
	return nil
}

// title returns what messages call the table.
func (t *Table[T]) title() string { return titleOf("table", t.name) }

// checkInvariants verifies, in the check build only, what is so when no slot is
// free: each is in use, or retired, or waits as the check build has it.
func (t *Table[T]) checkInvariants() {
	if !check.Enabled {
		return
	}
	live, retired, slots := 0, 0, 0
	for _, chunk := range t.chunks {
		slots += len(chunk)
		for i := range chunk {
			if s := &chunk[i]; s.gen%2 == 1 {
				live++
			} else if s.gen == t.start {
				retired++
			}
		}
	}
	if slots != t.slots || live != t.len || retired != t.retired || slots != live+retired+t.checked.Waiting() {
		panic(fmt.Sprintf("slab: %d slots, %d in use, %d retired: %v", slots, live, retired, t))
	}
}
