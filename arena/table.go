package arena

import (
	"math/bits"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
)

// The table finds the lane of a type. It is what stands between an arena and
// the speed of a lane, and a program with many types is lost if types share a
// slot. So the slot comes from the identity of the type, not from its size: the
// type word of *typed[T] times a constant, the upper bits. The entry itself is an
// interface that holds the *typed[T], so that the type assertion which turns it
// into one is the comparison of keys as well, and nothing here is unsafe.
//
// At most a quarter of the slots are taken, and more in the first two tables. Entries that meet all the same go to
// the next free slot, where a look-up takes three times as long. Where they meet
// depends on the addresses of types, and so on the program as it was linked; a
// table therefore tries several constants and takes the one by which the fewest
// meet: as a rule none, up to sixteen types.

const (
	minTable = 4  // slots in an arena's first table
	seeds    = 16 // constants to try
)

// lastSeed is where the next table of 1<<i slots begins to try: the arenas of a program
// have much the same types, so what was good for one is good for the next.
var lastSeed [32]atomic.Uint32

// multiplier returns the constant of a seed: odd, and near 2³² over the golden
// ratio for the first.
func multiplier(seed uint32) uint32 { return 0x9E3779B9 + seed*0x3C6EF372 }

// slot returns the home slot of type word w in a table of 1<<(32-shift) slots.
func slot(w uintptr, mul uint32, shift uint8) uint {
	return uint(uint32(w) * mul >> (shift & 31))
}

// find returns the lane of T if it is in its home slot, and otherwise nil. It
// inlines.
func find[T any](a *Arena) *typed[T] {
	if check.Enabled && !a.isUsable() {
		return nil
	}
	if i := slot(addr.TypeWord((*typed[T])(nil)), a.mul, a.shift); i < uint(len(a.table)) {
		l, _ := a.table[i].(*typed[T])
		return l
	}
	return nil
}

// laneOf returns the lane of T; op is what a panic names. Where speed counts,
// its two lines stand by themselves.
func laneOf[T any](a *Arena, op string) *typed[T] {
	if l := find[T](a); l != nil {
		return l
	}
	return laneSlow[T](a, op)
}

// laneSlow looks beyond the home slot, and makes the lane if there is none.
//
//go:noinline
func laneSlow[T any](a *Arena, op string) *typed[T] {
	if l, ok := a.lookUp(addr.TypeWord((*typed[T])(nil)), op).(*typed[T]); ok {
		return l
	}
	l := addr.Like[typed[T]](a.newLane())
	l.c.bind(a, l, addr.Size[T]())
	a.enter(&l.c)
	return l
}

// lookUp returns the entry of type word w, or nil. It panics if the arena may not be
// used for a new one.
func (a *Arena) lookUp(w uintptr, op string) any {
	if check.Enabled { // finds a copy at once
		a.checkUsable(op)
	}
	if len(a.table) > 0 {
		mask := uint(len(a.table) - 1)
		i := slot(w, a.mul, a.shift)
		for range a.table { // which may be full
			if a.table[i] == nil {
				break
			}
			if addr.TypeWord(a.table[i]) == w {
				return a.table[i]
			}
			i = (i + 1) & mask
		}
	}
	a.checkUsable(op)
	return nil
}

// newLane returns room for a lane of any type: they are all alike to the collector. The
// first is in the arena itself. The others are made three and then eleven at a time, which
// nearly fill size classes of Go's heap.
func (a *Arena) newLane() *typed[struct{}] {
	if a.types == 0 {
		return &a.own
	}
	if len(a.fresh) == 0 {
		n := 11
		if a.types == 1 {
			n = 3
		}
		a.fresh = make([]typed[struct{}], n)
	}
	l := &a.fresh[0]
	a.fresh = a.fresh[1:]
	return l
}

// capacity returns how many types a table of n slots takes at most: a quarter, or in the
// first ones, which cost a fresh arena dear, as many as some constant keeps apart.
func capacity(n int) int {
	switch n {
	case minTable:
		return minTable
	case 4 * minTable:
		return 6
	}
	return n / 4
}

// enter adds a lane to the arena, and to its table.
func (a *Arena) enter(l *lane) {
	l.next, a.lanes = a.lanes, l
	a.types++
	n := int(a.types)
	if n == 1 {
		a.table, a.shift, a.mul = a.slots[:], 32-2, multiplier(lastSeed[2].Load())
	}
	switch size := len(a.table); {
	case n > capacity(size):
		a.makeTable(4 * size)
	case a.enterTable(l.front):
	case n == minTable: // few constants keep them apart in a table that is full
		a.makeTable(4 * minTable)
	case n <= 16 || n%16 == 0:
		a.makeTable(size)
	}
}

// makeTable makes a table of n slots with the best constant.
func (a *Arena) makeTable(n int) {
	if len(a.table) != n {
		a.table = make([]any, n)
		a.shift = uint8(33 - bits.Len(uint(n)))
	}
	last := &lastSeed[32-a.shift]
	first := last.Load()
	best, fewest := first, int(a.types)
	for k := range uint32(seeds) {
		seed := (first + k) % seeds
		if met := a.fillTable(seed); met < fewest {
			best, fewest = seed, met
		}
		if fewest == 0 {
			break
		}
	}
	if fewest > 0 {
		a.fillTable(best)
	}
	if best != first {
		last.Store(best)
	}
}

// fillTable enters all lanes anew and returns how many are not at home.
func (a *Arena) fillTable(seed uint32) (met int) {
	clear(a.table)
	a.mul = multiplier(seed)
	for l := a.lanes; l != nil; l = l.next {
		if _, ok := l.front.(*dynamic); !ok && !a.enterTable(l.front) {
			met++
		}
	}
	return met
}

// enterTable puts l into the first free slot from its home on, and reports
// whether that is its home.
func (a *Arena) enterTable(l any) bool {
	home := slot(addr.TypeWord(l), a.mul, a.shift)
	i := home
	for a.table[i] != nil {
		i = (i + 1) & uint(len(a.table)-1)
	}
	a.table[i] = l
	return i == home
}
