package magazine

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Set has a cell for each P. The zero Set is ready: its cells are empty and
// take nothing until Open is called.
type Set struct {
	table atomic.Pointer[Table]

	mu      sync.Mutex
	retired []*Table // out of use, but perhaps not left by everybody
}

// A Table is the cells of one time.
type Table struct {
	cells   []Cell
	settled bool // a garbage collection began after it was retired, when the next one is over
}

// Table returns the cells, or nil if there are none.
//
//go:norace
func (s *Set) Table() *Table { return s.table.Load() }

// Open makes room for the P that found no cell, because the Set is new or
// GOMAXPROCS has grown. The cells of before are retired. It reports whether it
// changed anything.
func (s *Set) Open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil && len(t.cells) >= width() {
		return false
	}
	s.replace(newTable())
	return true
}

// Retire takes all cells out of use, if there are any. Their magazines come
// from Settle or Reclaim. The next operation finds no cell and calls Open.
func (s *Set) Retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(nil)
}

// Fits reports whether the Set has as many cells as the Ps of now need, or none.
func (s *Set) Fits() bool {
	t := s.table.Load()
	return t == nil || len(t.cells) == width()
}

// Settle is to be called after each garbage collection, and returns the
// magazines of cells that were retired before the collection began.
func (s *Set) Settle() []*Magazine {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Magazine
	kept := s.retired[:0]
	for _, t := range s.retired {
		if t.settled {
			list = t.take(list)
		} else {
			t.settled = true
			kept = append(kept, t)
		}
	}
	clear(s.retired[len(kept):])
	s.retired = kept
	return list
}

// Reclaim returns the magazines of all retired cells. It waits until no P is at
// work in them, which takes some tens of microseconds and, while garbage is
// collected, as long as that takes.
func (s *Set) Reclaim() []*Magazine {
	tables := s.Retired()
	if len(tables) == 0 {
		return nil
	}
	Quiesce() // without the lock, for which an Open would have to wait
	return s.Take(tables)
}

// Retired returns the tables of retired cells. Once Quiesce has been called their
// magazines may be taken with Take. It is for owners of many Sets, which Quiesce
// once for all, and for those that Take under a lock of their own.
func (s *Set) Retired() []*Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.retired)
}

// Quiesce waits until no P is at work in cells that are retired already. See
// Reclaim.
func Quiesce() { quiesce() }

// Take returns the magazines of tables that Retired returned before a call of
// Quiesce. Of those that Settle or another Take took meanwhile there are none.
func (s *Set) Take(tables []*Table) []*Magazine {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Magazine
	for _, t := range tables {
		list = t.take(list)
	}
	s.retired = slices.DeleteFunc(s.retired, func(t *Table) bool { return slices.Contains(tables, t) })
	return list
}

// Walk calls f for each magazine in a cell, those of retired cells included.
// The magazines may change meanwhile, so f may only look at the numbers that
// [Magazine.Peek] returns.
//
//go:norace
func (s *Set) Walk(f func(*Magazine)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tables := s.retired
	if t := s.table.Load(); t != nil {
		tables = append(tables[:len(tables):len(tables)], t)
	}
	for _, t := range tables {
		for i := range t.cells {
			for _, m := range [...]*Magazine{t.cells[i].cur, t.cells[i].prev} {
				if m != none {
					f(m)
				}
			}
		}
	}
}

// Ops returns how many objects were popped from the magazines in cells, and pushed to
// them, since each was taken from the depot.
func (s *Set) Ops() (pops, pushes uint64) {
	s.Walk(func(m *Magazine) {
		_, out, in := m.Peek()
		pops += uint64(out)
		pushes += uint64(in)
	})
	return pops, pushes
}

// Peek returns the number of objects in m and what Counts would return, while m
// may be in use elsewhere.
//
//go:norace
func (m *Magazine) Peek() (n int, pops, pushes uint) { return int(m.n), m.pops, m.pushes }

// replace puts t into place and retires what was there.
func (s *Set) replace(t *Table) {
	if old := s.table.Swap(t); old != nil {
		s.retired = append(s.retired, old)
	}
}

// Width returns how many cells a Set has that is opened now.
func Width() int { return width() }

func newTable() *Table {
	t := &Table{cells: make([]Cell, width())}
	for i := range t.cells {
		t.cells[i].cur, t.cells[i].prev = none, none
	}
	return t
}

// take removes the magazines of c and appends them to list.
//
//go:norace
func (c *Cell) take(list []*Magazine) []*Magazine {
	for _, m := range [...]*Magazine{c.cur, c.prev} {
		if m != none {
			if Race {
				Acquire(unsafe.Pointer(m))
			}
			list = append(list, m)
		}
	}
	c.cur, c.prev = none, none
	c.end()
	return list
}
