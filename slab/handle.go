package slab

import (
	"fmt"
	"reflect"
)

// A Handle names an element of a [Table]. It is 8 bytes without a pointer, may
// be compared, copied, stored and used as the key of a map, and stays a plain
// number for the garbage collector: it keeps nothing alive.
//
// The zero Handle names nothing, in any table.
type Handle[T any] struct {
	place uint32 // where the slot is, see placeBits
	gen   uint32 // which of the slot's elements, odd
}

// A place is the number of a chunk, from 1 on, and the number of a slot in it.
// Get finds the slot with a shift and a mask, whatever the lengths of the chunks.
const (
	placeBits = 22 // for the number of the slot
	maxSlots  = 1 << placeBits
	maxChunks = 1<<(32-placeBits) - 1
	slotMask  = maxSlots - 1
)

// Uint64 returns the handle as a number, which [HandleOf] takes back: for handles
// that leave the program, as the id of an order or a session does. It is 0 for the
// zero Handle and for no other.
func (h Handle[T]) Uint64() uint64 { return uint64(h.place)<<32 | uint64(h.gen) }

// HandleOf returns the handle whose Uint64 is n, and the zero Handle if n is not
// that of any handle. The number may come from anywhere: if it was not given
// out, or its element was removed, it matches nothing. A guess at an element in
// use is right with a probability of 2⁻³¹. So a handle is no secret: check who
// may use an element that is named from outside.
func HandleOf[T any](n uint64) Handle[T] {
	h := Handle[T]{place: uint32(n >> 32), gen: uint32(n)}
	if h.place>>placeBits == 0 || h.gen%2 == 0 { // which is how a free slot looks
		return Handle[T]{}
	}
	return h
}

// String returns the handle as type, number of the slot and generation, such as
// Order#17.2406177133. Slots are numbered from 0 on in the order of their first
// use, and the generation grows by two with each element in the slot. The zero
// Handle is Order#none.
func (h Handle[T]) String() string { return text((*tableSlot[T])(nil), h.place, h.gen) }

// text is String of a handle to a slot of the type that null points to.
func text(null any, place, gen uint32) string {
	slot := reflect.TypeOf(null).Elem()
	name := typeOf(slot).Name()
	if name == "" {
		name = typeOf(slot).String()
	}
	if place == 0 {
		return name + "#none"
	}
	first := 0
	for range place>>placeBits - 1 {
		first += tableChunkLen(first, slot.Size())
	}
	return fmt.Sprintf("%s#%d.%d", name, first+int(place&slotMask), gen)
}
