package track

import (
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/stale"
)

// Marks are of the objects of one pool that are watched for stale pointers when they are
// put: package internal/stale.
//
// What is put may be anything: a global variable, or a part of something larger that
// others hold rightly. So an object is chosen before: one that the pool makes for a Get is
// marked. It must be one of Go's heap of its own then, which what new and make return is.
// Of what users' functions return it is asked; a pool of other memory, which the collector
// does not free, is left alone from then on: each object more that is made for the choice
// would stay for good.
//
// There is one mark in a collection at the most, however many Puts there are, unless all
// are watched. One that does not come back is given up after a few collections.
type Marks struct {
	sampler
	by map[uintptr]mark // by the address of the object
}

// A mark is of an object in use that is watched when it is put.
type mark struct {
	at   weak.Pointer[byte] // the memory that is watched
	left int                // collections until it is given up
}

const (
	patience = 8       // collections that a mark waits
	maxMarks = 1 << 16 // where all are watched
)

// Open makes the marks of a pool ready, whose hooks are in a word.
func (m *Marks) Open(hooks *atomic.Uint32) { m.ready(hooks, stale.Each, maxMarks) }

// Watch has the pool hooked when all are to be watched. It is called once, when the pool
// is in use, with its lock held.
func (m *Marks) Watch() { m.enlist(nil) }

// Sample is called after each collection, with the number of Puts up to now.
func (m *Marks) Sample(puts uint64) {
	m.draw(puts, func(n uint64) int {
		for p, x := range m.by {
			if stale.Each() {
				break
			}
			if x.left--; x.left > 0 {
				m.by[p] = x
			} else {
				delete(m.by, p)
			}
		}
		if m.out = len(m.by); m.out == 0 && !m.off && stale.Draw(n) {
			return 1
		}
		return 0
	})
}

// Claim reports whether the caller is to make an object and to Mark it.
func (m *Marks) Claim() bool { return m.take() }

// Mark has the object at p watched when it is put. at is the memory to watch; where it
// cannot be, as it is none of Go's heap, no object of the pool is any more.
func (m *Marks) Mark(p unsafe.Pointer, at *byte, can bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = make(map[uintptr]mark)
	}
	if can {
		m.by[uintptr(p)] = mark{weak.Make(at), patience}
	} else {
		m.off = true
	}
	m.out = len(m.by)
	m.hook()
}

// Unmark reports whether the object at p is marked and its memory is that at at.
// Then it is the caller's to drop and to watch.
func (m *Marks) Unmark(p unsafe.Pointer, at *byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.by[uintptr(p)]
	delete(m.by, uintptr(p))
	m.out = len(m.by)
	m.hook()
	return ok && x.at.Value() == at // or the address is that of another object by now
}
