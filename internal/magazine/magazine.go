package magazine

import "unsafe"

// Rounds is the most objects that a magazine holds.
const Rounds = 57

// A Magazine is a stack of up to Rounds objects that belongs to one owner at a
// time: a cell, a depot, or the goroutine that takes it from one to the other.
// It takes 512 bytes, which is the largest size of Go's heap that carries no
// header (GC.md fact 2).
type Magazine struct {
	Next *Magazine // for the lists of a depot

	n, limit uint // objects in it, and the most it takes

	// What happened to it since it was taken from the depot. The cells need no
	// counters of their own, for a magazine brings its counts with it.
	pops, pushes uint

	bytes, maxBytes uint // of a costed magazine: of the objects in it, and the most it takes

	objs [Rounds]unsafe.Pointer
}

// New returns an empty magazine for at most limit objects, at least one and at
// most Rounds.
func New(limit int) *Magazine {
	return &Magazine{limit: uint(min(max(limit, 1), Rounds))}
}

// Len returns how many objects are in m.
func (m *Magazine) Len() int { return int(m.n) }

// Limit returns how many objects m takes.
func (m *Magazine) Limit() int { return int(m.limit) }

// Objects returns the objects in m, the one that Pop would return last. The
// slice is m's own memory.
func (m *Magazine) Objects() []unsafe.Pointer { return m.objs[:m.n] }

// Truncate removes all objects but the first n.
func (m *Magazine) Truncate(n int) {
	clear(m.objs[n:m.n])
	m.n = uint(n)
}

// Remove removes the objects whose place in Objects is marked.
func (m *Magazine) Remove(marked *[Rounds]bool) {
	n := 0
	for k, p := range m.Objects() {
		if !marked[k] {
			m.objs[n] = p
			n++
		}
	}
	m.Truncate(n)
}

// Counts returns how many objects were popped and pushed since the last call.
func (m *Magazine) Counts() (pops, pushes uint) {
	pops, pushes = m.pops, m.pushes
	m.pops, m.pushes = 0, 0
	return pops, pushes
}

// Count adds to what Counts returns.
func (m *Magazine) Count(pops, pushes int) {
	m.pops += uint(pops)
	m.pushes += uint(pushes)
}

// Add puts an object into m, which must have room, without counting it.
func (m *Magazine) Add(p unsafe.Pointer) {
	m.objs[m.n] = p
	m.n++
}

// Take removes the object that was added last, without counting it. It returns
// nil if there is none.
func (m *Magazine) Take() unsafe.Pointer {
	if m.n == 0 {
		return nil
	}
	m.n--
	p := m.objs[m.n]
	m.objs[m.n] = nil
	return p
}

// none is what a cell has before it gets a magazine of its own: nothing can be
// popped from it and nothing pushed, so it is never written to.
var none = new(Magazine)
