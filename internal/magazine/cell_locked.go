//go:build !(gc && go1.24 && !go1.28 && !haven_nolinkname)

package magazine

import (
	"runtime"
	"sync"
	"unsafe"
)

// Pinned tells that cells are chosen by chance and have a lock.
const Pinned = false

// A guard is the lock of a cell.
type guard struct {
	mu    sync.Mutex
	ended bool // the table was emptied, and what comes now would be lost
}

// Gone reports whether the table of the cell was emptied after it was looked up.
// The cell is empty and takes nothing then, but Install must not be called.
func (g *guard) Gone() bool { return g.ended }
func (g *guard) end()       { g.ended = true }

// Enter returns a number that the address of the goroutine's stack selects.
func Enter() int {
	var here byte
	// Stacks are at least 2 KiB. The constant spreads them (Fibonacci hashing).
	h := uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15
	return int(h >> 33)
}

// Exit ends what Enter began, where no cell was found.
func Exit() {}

// Cell locks the cell that belongs to a number of Enter's and returns it.
func (t *Table) Cell(n int) *Cell {
	c := &t.cells[n%len(t.cells)]
	c.mu.Lock()
	return c
}

// Has reports that t has a cell for every number.
func (t *Table) Has(int) bool { return true }

// Leave unlocks the cell. It must not be used afterwards.
func (c *Cell) Leave() { c.mu.Unlock() }

// width is how many cells a table needs: more than Ps, so that goroutines
// seldom meet.
func width() int {
	n := runtime.GOMAXPROCS(0)
	if n == 1 {
		return 1 // nobody to meet
	}
	return 4 * n
}

// quiesce does nothing: take locks each cell.
func quiesce() {}

// take returns the magazines of a table that is out of use.
func (t *Table) take(list []*Magazine) []*Magazine {
	for i := range t.cells {
		c := &t.cells[i]
		c.mu.Lock()
		list = c.take(list)
		c.mu.Unlock()
	}
	return list
}
