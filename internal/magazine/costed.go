package magazine

import "unsafe"

// A costed is a magazine that keeps, for each object, the number of bytes that
// its owner counts it as, so that the owner subtracts what it added whatever
// became of the object in between. The cells of a Set hold costed magazines only,
// or none.
type costed struct {
	Magazine
	costs [Rounds]uint // of objs
}

// NewCosted returns an empty costed magazine for at most limit objects that
// count as at most maxBytes together.
func NewCosted(limit int, maxBytes uint) *Magazine {
	m := &costed{Magazine: *New(limit)}
	m.maxBytes = maxBytes
	return &m.Magazine
}

// costs returns the costs of a costed magazine's objects.
func (m *Magazine) costs() *[Rounds]uint {
	// SAFETY: NewCosted made m, so a costed begins where m does.
	return &(*costed)(unsafe.Pointer(m)).costs
}

// PopCosted removes the object that was pushed last, from the current magazine or
// from the previous one, which then change places. It returns nil if both are
// empty. The magazines must be costed.
//
//go:norace
func (c *Cell) PopCosted() unsafe.Pointer {
	if !c.CanPop() {
		if c.prev.n == 0 {
			return nil
		}
		c.cur, c.prev = c.prev, c.cur
	}
	p := c.Pop()
	c.cur.bytes -= c.cur.costs()[c.cur.n]
	return p
}

// PushCosted adds an object that counts as cost bytes to the current magazine or
// to the previous one, which then change places. It reports false if neither has
// room. The magazines must be costed.
//
//go:norace
func (c *Cell) PushCosted(p unsafe.Pointer, cost uint) bool {
	if !c.cur.roomFor(cost) {
		if !c.prev.roomFor(cost) {
			return false
		}
		c.cur, c.prev = c.prev, c.cur
	}
	c.Push(p)
	c.cur.note(cost)
	return true
}

//go:norace
func (m *Magazine) roomFor(cost uint) bool { return m.n < m.limit && cost <= m.maxBytes-m.bytes }

// note enters the cost of the object that was added last.
//
//go:norace
func (m *Magazine) note(cost uint) {
	m.costs()[m.n-1] = cost
	m.bytes += cost
}

// AddCosted is Add for a costed magazine, which must have room.
func (m *Magazine) AddCosted(p unsafe.Pointer, cost uint) {
	m.Add(p)
	m.note(cost)
}

// Costs returns what each of m's Objects counts as.
func (m *Magazine) Costs() []uint { return m.costs()[:m.n] }

// MaxBytes returns how many bytes a costed magazine takes.
func (m *Magazine) MaxBytes() uint { return m.maxBytes }

// Empty removes all objects, from a costed magazine or another.
func (m *Magazine) Empty() {
	clear(m.objs[:m.n])
	m.n, m.bytes = 0, 0
}

// PeekBytes returns what the objects in a costed magazine count as together,
// while it may be in use elsewhere.
//
//go:norace
func (m *Magazine) PeekBytes() int { return int(m.bytes) }
