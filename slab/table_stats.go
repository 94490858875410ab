package slab

import (
	"fmt"

	"github.com/haven-mem/haven/internal/account"
)

// TableStats describes a [Table]. Its numbers add up:
//
//	Slots = InUse + Free + Retired
type TableStats struct {
	Name     string
	Type     string // of the elements, as %v prints it
	InUse    int    // elements
	Free     int    // slots for more, the unused ones included
	Retired  int    // slots that will not be used again
	Slots    int    // in all chunks
	SlotSize int    // bytes: an element, and 8 or a few more
	Capacity int    // 0: none
	Chunks   int
	Bytes    int // of all chunks
}

// Stats returns the numbers of the table in constant time.
func (t *Table[T]) Stats() TableStats { return t.core.statsOf(t) }

// statsOf is Stats with one call, and so inlined where the compiler adds a method.
func (t *table) statsOf(front any) TableStats { return t.bind(front).stats() }

func (t *table) stats() TableStats {
	size := int(t.slotSize)
	return TableStats{
		Name:     t.name,
		Type:     t.typ.String(),
		InUse:    t.len,
		Free:     t.slots - t.len - t.retired,
		Retired:  t.retired,
		Slots:    t.slots,
		SlotSize: size,
		Capacity: t.capacity,
		Chunks:   max(len(*t.chunks)-1, 0),
		Bytes:    t.slots * size,
	}
}

// String returns the numbers in one line.
func (s TableStats) String() string {
	return fmt.Sprintf("%s of %s: %s, %d of %s free, %d retired, %s, %s",
		account.Title("table", s.Name), s.Type, account.Count(s.InUse, "element"), s.Free, account.Count(s.Slots, "slot"), s.Retired,
		account.Count(s.Chunks, "chunk"), account.Count(s.Bytes, "byte"))
}

// String returns the numbers of the table in one line.
func (t *Table[T]) String() string { return t.core.textOf(t) }

func (t *table) textOf(front any) string { return t.bind(front).String() }

func (t *table) String() string { return t.stats().String() }
