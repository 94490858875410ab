//go:build gc && go1.24 && !go1.28 && !haven_nolinkname

package magazine

import "runtime"

// Pinned tells that cells belong to Ps.
const Pinned = true

// A guard is nothing: the P itself is the lock.
type guard struct{}

// Gone reports that nobody empties the table of a pinned goroutine.
func (guard) Gone() bool { return false }
func (guard) end()       {}

// Enter pins the goroutine to its P, whose number it returns for [Table.Cell].
func Enter() int { return procPin() }

// Exit ends what Enter began, where no cell was found.
func Exit() { procUnpin() }

// Cell returns the cell of P pid, which t must have (see Has).
//
//go:norace
func (t *Table) Cell(pid int) *Cell { return &t.cells[pid] }

// Has reports whether t has a cell for P pid.
//
//go:norace
func (t *Table) Has(pid int) bool { return uint(pid) < uint(len(t.cells)) }

// Leave unpins the goroutine. The cell must not be used afterwards.
//
//go:norace
func (c *Cell) Leave() { procUnpin() }

// width is how many cells a table needs.
func width() int { return runtime.GOMAXPROCS(0) }

// quiesce returns when every goroutine that was pinned at the call has left its
// cell: a pinned goroutine cannot be stopped, and reading the memory statistics
// stops the world (GC.md fact 18). It takes some tens of microseconds.
func quiesce() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}

// take returns the magazines of a table that is out of use and quiescent.
//
//go:norace
func (t *Table) take(list []*Magazine) []*Magazine {
	for i := range t.cells {
		list = t.cells[i].take(list)
	}
	return list
}
