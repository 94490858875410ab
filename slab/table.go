package slab

import (
	"iter"
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// A Table holds elements of type T that are found by a [Handle]. A handle to an
// element that was removed never matches again, so what refers to it by handle
// needs no notice: it finds out when it looks. Use a Table for objects that
// others refer to for an unknown time, such as sessions, entities or timers, and
// for graphs. Where nothing can refer to an object after its end, a [Local] or a
// [Cache] costs less.
//
// Elements that are linked by handles instead of pointers have no pointers, if T
// has none otherwise. The garbage collector then skips the memory of the table
// altogether, however many elements it has: it marks one word for each chunk. A tree
// of 8 million nodes linked by pointers took 127 ms of the collector's CPU time in
// each cycle, linked by handles 0.4 ms (BENCHMARKS.md, workload handles; there is
// also what following a handle costs).
//
// The zero Table is ready; make one with [NewTable] for settings. Like a map,
// a Table is for one goroutine at a time, but several may read (Get, All, Len)
// while none writes. It must not be copied after first use; a copy panics when no slot is
// free.
//
// An element stays at its place: the pointer that Insert and Get return is good
// until Remove. Afterwards it reads a zero T, or another element: wrong data, but
// always a T. Memory is used again for other elements and stays with the table,
// and a pointer to an element keeps its chunk alive.
//
// # Stale and foreign handles
//
// A slot has a generation, which changes with each Insert and each Remove. After
// 2³¹ elements the slot is retired: its generations are used up, and none comes
// again. So a handle to a removed element never matches.
//
// Generations begin at a random number that each table chooses for itself. A
// handle of another Table[T], or of a table in another process, to a slot that
// is in use here as well is taken for one of this table with a probability of
// 2⁻³¹.
type Table[T any] struct {
	_      noCopy
	chunks [][]tableSlot[T] // chunks[0] is empty, so that the zero Handle finds nothing
	core   table
}

// A table is what Tables of all types have in common.
//
// Slots lie in chunks, each about a quarter of all before it, which never
// move. In slots,
//
//	all chunks = in use + free + retired + unused
//
// where unused are those at the end of the last chunk that never had an
// element.
type table struct {
	free   uint32 // the place of the slot that was freed last, 0 for none
	unused int
	len    int
	start  uint32 // the generation that slots begin with, and are retired at

	self   *table        // itself, so that a copy is found; nil until it is bound
	chunks *[][]slotHead // those of the Table, with another type
	elem
	chunk    reflect.Type // a []tableSlot[T]
	slotSize uintptr

	busy  check.Only[check.Busy]
	watch track.Objects

	slots    int // in all chunks
	retired  int
	capacity int // 0: none
	name     string
}

// A tableSlot has the check and the element side by side, mostly in one cache
// line.
type tableSlot[T any] struct {
	gen  uint32 // odd: in use
	next uint32 // the place of the next free slot, if this one is free; 0 for none
	v    T
}

// A slotHead is what slots of all types begin with.
type slotHead struct{ gen, next uint32 }

// NewTable returns an empty table with the settings of conf, of which there is one or
// none. It panics if a setting is out of its range; see [TableConfig].
func NewTable[T any](conf ...TableConfig) *Table[T] {
	t := new(Table[T])
	t.core.bind(t).configure(conf)
	return t
}

// Insert adds v and returns its handle, and a pointer to it that is good until
// Remove. It panics with an error that wraps [ErrExhausted] when the capacity is
// reached, or the number of slots that handles can name, more than 3,900 million.
// It costs some nanoseconds, and once in a while the time to add a chunk of a
// quarter of what there is.
func (t *Table[T]) Insert(v T) (Handle[T], *T) {
	if t.core.free == 0 {
		t.core.mustMore(t)
	}
	h := Handle[T]{place: t.core.free}
	s := &t.chunks[h.place>>placeBits][h.place&slotMask]
	t.core.free = s.next
	if sanitize.Poisons {
		sanitize.Grant(unsafe.Pointer(&s.v), unsafe.Sizeof(s.v))
	}
	s.gen++
	s.v = v
	t.core.len++
	h.gen = s.gen
	if check.Enabled {
		t.core.noteInsert(unsafe.Pointer(&s.v))
	}
	return h, &s.v
}

// TryInsert is Insert that returns the error with which Insert panics.
func (t *Table[T]) TryInsert(v T) (Handle[T], *T, error) {
	if t.core.free == 0 {
		if err := t.core.more(t); err != nil {
			return Handle[T]{}, nil, err
		}
	}
	h, p := t.Insert(v)
	return h, p, nil
}

// Get returns a pointer to the element that h names, good until Remove, and
// true; or nil and false if the element was removed or never was. It costs two
// loads for the chunk, one for the slot, and compares.
func (t *Table[T]) Get(h Handle[T]) (*T, bool) {
	if c := h.place >> placeBits; int(c) < len(t.chunks) {
		// The generation of a handle is odd, that of a free slot is not.
		if chunk, i := t.chunks[c], h.place&slotMask; int(i) < len(chunk) && chunk[i].gen == h.gen {
			return &chunk[i].v, true
		}
	}
	return nil, false
}

// Remove removes the element that h names, sets its memory to zero, and reports
// whether there was one. From then on neither h nor a copy of it matches.
func (t *Table[T]) Remove(h Handle[T]) bool {
	p, ok := t.Get(h)
	if !ok {
		return false
	}
	// SAFETY: GC.md fact 1: an element is part of its slot, which begins with a slotHead.
	s := (*slotHead)(unsafe.Add(unsafe.Pointer(p), -int(unsafe.Offsetof(tableSlot[T]{}.v))))
	var zero T
	*p = zero
	s.gen++
	t.core.len--
	if sanitize.Poisons {
		sanitize.Withhold(unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	if s.gen == t.core.start {
		t.core.retired++
	} else if check.Enabled {
		t.core.removeChecked(s, unsafe.Pointer(p), h.place)
	} else {
		s.next = t.core.free
		t.core.free = h.place
	}
	return true
}

// Len returns the number of elements.
func (t *Table[T]) Len() int { return t.core.len }

// All returns an iterator over the elements, in no particular order. Any element
// may be removed during the iteration, and is not visited afterwards. Elements
// may be inserted; whether one of those is visited is not defined, but the
// iteration ends. It costs some nanoseconds for each slot, in use or not.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		// Chunks that come later are left out, or a loop that inserts an element
		// for each one would not end.
		chunks := t.chunks
		for c, chunk := range chunks {
			for i := range chunk {
				s := &chunk[i]
				if s.gen%2 == 0 {
					continue
				}
				if !yield(Handle[T]{place: placeOf(c, i), gen: s.gen}, &s.v) {
					return
				}
			}
		}
	}
}
