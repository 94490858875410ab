package arena

import (
	"math/bits"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/chunk"
)

// The table finds the lane of a type. It is what stands between an arena and
// the speed of a lane, and a program with many types is lost if types share a
// slot. So the slot comes from the identity of the type, not from its size: the
// type word of *Lane[T] times a constant, the upper bits. The entry itself is an
// interface that holds the *Lane[T], so that the type assertion which turns it
// into one is the comparison of keys as well, and nothing here is unsafe.
//
// At most half of the slots are taken; entries that meet go to the next free
// slot.

// minTable is the length of an arena's first table.
const minTable = 16

// slot returns the home slot of type word w in a table of 1<<(32-shift) slots.
// The constant is 2³² over the golden ratio.
// It is unsigned because before there is a table, with a shift of 0, all 32 bits
// are left, which an int need not hold.
func slot(w uintptr, shift uint8) uint {
	return uint(uint32(w) * 0x9E3779B9 >> (shift & 31))
}

// find returns the lane of T if it is in its home slot, and otherwise nil. It
// inlines.
func find[T any](a *Arena) *Lane[T] {
	if i := slot(addr.TypeWord((*Lane[T])(nil)), a.shift); i < uint(len(a.table)) {
		l, _ := a.table[i].(*Lane[T])
		return l
	}
	return nil
}

// laneOf returns the lane of T; op is what a panic names. Where speed counts,
// its two lines stand by themselves.
func laneOf[T any](a *Arena, op string) *Lane[T] {
	if l := find[T](a); l != nil {
		return l
	}
	return laneSlow[T](a, op)
}

// laneSlow looks beyond the home slot, and makes the lane if there is none.
//
//go:noinline
func laneSlow[T any](a *Arena, op string) *Lane[T] {
	if len(a.table) > 0 {
		mask := uint(len(a.table) - 1)
		i := slot(addr.TypeWord((*Lane[T])(nil)), a.shift)
		for a.table[i] != nil {
			if l, ok := a.table[i].(*Lane[T]); ok {
				return l
			}
			i = (i + 1) & mask
		}
	}
	a.checkUsable(op)
	l := &Lane[T]{a: a}
	a.lanes = append(a.lanes, l)
	if 2*(len(a.lanes)-a.dyn.count()) > len(a.table) {
		a.growTable()
	} else {
		a.enterTable(l)
	}
	return l
}

// growTable makes a table four times as long, in which an eighth of the slots
// is taken.
func (a *Arena) growTable() {
	n := max(minTable, 4*len(a.table))
	a.table = make([]any, n)
	a.shift = uint8(33 - bits.Len(uint(n)))
	for _, l := range a.lanes {
		if _, ok := l.(*dynamicLane); !ok {
			a.enterTable(l)
		}
	}
}

// enterTable puts l into the first free slot from its home on.
func (a *Arena) enterTable(l any) {
	i := slot(addr.TypeWord(l), a.shift)
	for a.table[i] != nil {
		i = (i + 1) & uint(len(a.table)-1)
	}
	a.table[i] = l
}

// firstChunk returns the bytes of a lane's first chunk.
func (a *Arena) firstChunk() uintptr {
	if a != nil && a.first > 0 {
		return uintptr(a.first)
	}
	return chunk.First
}

// chunkSizes returns the bytes of a lane's first chunk and of the largest that
// growth asks for.
func (a *Arena) chunkSizes() (first, limit uintptr) {
	limit = chunk.MaxGrowth
	if a != nil && a.max > 0 {
		limit = uintptr(a.max)
	}
	return min(a.firstChunk(), limit), limit
}
