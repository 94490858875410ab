package slab

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/sanitize"
)

// TableFrom returns a table whose generations begin at start, which is even.
func TableFrom[T any](start uint32, conf ...TableConfig) *Table[T] {
	t := NewTable[T](conf...)
	t.core.start = start
	t.chunks = make([][]tableSlot[T], 1)
	return t
}

// StartOf returns where t's generations begin. It has a chunk.
func StartOf[T any](t *Table[T]) uint32 { return t.core.start }

// Age gives the slot of an element the generation that is followed by lives-1
// more, and returns the handle that the element has then.
func Age[T any](t *Table[T], h Handle[T], lives uint32) Handle[T] {
	h.gen = t.core.start + 1 - 2*lives
	t.chunks[h.place>>placeBits][h.place&slotMask].gen = h.gen
	return h
}

// LivesOf returns how many elements the slot of h can have, this one included.
func LivesOf[T any](t *Table[T], h Handle[T]) uint32 { return (t.core.start - h.gen + 1) / 2 }

// UseUpPlaces makes t, in which no slot is free, a table that has all chunks
// there can be.
func UseUpPlaces[T any](t *Table[T]) {
	for len(t.chunks) <= maxChunks {
		t.chunks = append(t.chunks, nil)
	}
}

// MaxSlots returns how many slots a Table[T] can have, and how many of them are
// in its longest chunk; and how many chunks a table of n elements has.
func MaxSlots[T any](n int) (slots, longest, chunks int) {
	for range maxChunks {
		k := tableChunkLen(slots, unsafe.Sizeof(tableSlot[T]{}))
		if slots < n {
			chunks++
		}
		slots += k
		longest = max(longest, k)
	}
	return slots, longest, chunks
}

// SlotType returns the type of a slot.
func SlotType[T any]() reflect.Type { return reflect.TypeFor[tableSlot[T]]() }

// CheckTable verifies everything about t that its comments say.
func CheckTable[T any](t *Table[T]) error {
	live, retired, fresh, waiting, slots := 0, 0, 0, 0, 0
	free := map[uint32]bool{}
	for place := t.core.free; place != 0; {
		if free[place] {
			return fmt.Errorf("slot %#x is free twice", place)
		}
		free[place] = true
		place = t.chunks[place>>placeBits][place&slotMask].next
	}
	for c, chunk := range t.chunks {
		slots += len(chunk)
		for i := range chunk {
			s := &chunk[i]
			place := placeOf(c, i)
			switch {
			case s.gen%2 == 1:
				live++
			case free[place]:
			case c == len(t.chunks)-1 && i >= len(chunk)-t.core.unused:
				if fresh++; s.gen != 0 {
					return fmt.Errorf("unused slot %#x has generation %d", place, s.gen)
				}
			case s.gen == t.core.start:
				retired++
			case waiting < t.core.watch.Waiting(): // in the check build
				waiting++
				continue
			default:
				return fmt.Errorf("slot %#x is lost", place)
			}
			if s.gen%2 == 1 && free[place] {
				return fmt.Errorf("slot %#x is free and in use", place)
			}
			if s.gen%2 == 0 && !sanitize.Poisons && !reflect.ValueOf(&s.v).Elem().IsZero() {
				return fmt.Errorf("free slot %#x holds %v", place, s.v)
			}
		}
	}
	if live != t.core.len || retired != t.core.retired || fresh != t.core.unused || slots != t.core.slots || slots != live+len(free)+retired+fresh+waiting {
		return fmt.Errorf("%d slots: %d in use, %d free, %d retired, %d unused: %+v", slots, live, len(free), retired, fresh, t.Stats())
	}
	return nil
}
