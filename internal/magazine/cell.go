package magazine

import "unsafe"

// A Cell is what one P has of a Set: the magazine in use, and the one before.
// Its methods are called between [Enter] and [Cell.Leave] only.
type Cell struct {
	cur, prev *Magazine
	guard
	_ [128 - 2*unsafe.Sizeof((*Magazine)(nil)) - unsafe.Sizeof(guard{})]byte // two cache lines: CPUs fetch them in pairs
}

// CanPop reports whether the current magazine has an object.
//
//go:norace
func (c *Cell) CanPop() bool { return c.cur.n-1 < Rounds }

// Pop removes the object that was pushed last from the current magazine, which
// must have one. (Asking first and popping then is what the compiler turns into
// the fewest jumps: a nil that is returned and tested costs a seventh of the
// time of a Pop and a Push.)
//
// It leaves no pointer behind in the magazine: that would keep an object alive
// which its user may have dropped.
//
//go:norace
func (c *Cell) Pop() unsafe.Pointer {
	m := c.cur
	n := m.n - 1
	p := m.objs[n]
	m.objs[n] = nil
	m.n = n
	m.pops++
	return p
}

// CanPush reports whether the current magazine has room.
//
//go:norace
func (c *Cell) CanPush() bool { return c.cur.n < c.cur.limit }

// Push adds an object to the current magazine, which must have room.
//
//go:norace
func (c *Cell) Push(p unsafe.Pointer) {
	m := c.cur
	n := m.n
	m.objs[n] = p
	m.n = n + 1
	m.pushes++
}

// PopPrev is Pop from the previous magazine, if that has an object. The two then
// change places.
//
//go:norace
func (c *Cell) PopPrev() unsafe.Pointer {
	if c.prev.n == 0 {
		return nil
	}
	c.cur, c.prev = c.prev, c.cur
	return c.Pop()
}

// PushPrev is Push to the previous magazine, if that has room. The two then
// change places.
//
//go:norace
func (c *Cell) PushPrev(p unsafe.Pointer) bool {
	if c.prev.n >= c.prev.limit {
		return false
	}
	c.cur, c.prev = c.prev, c.cur
	c.Push(p)
	return true
}

// PopN moves up to len(dst) objects from the current magazine to dst and returns
// how many.
//
//go:norace
func (c *Cell) PopN(dst []unsafe.Pointer) int {
	n := 0
	for n < len(dst) && c.CanPop() {
		dst[n] = c.Pop()
		n++
	}
	return n
}

// PushN adds objects until the current magazine is full, and returns how many.
//
//go:norace
func (c *Cell) PushN(src []unsafe.Pointer) int {
	n := 0
	for n < len(src) && c.CanPush() {
		c.Push(src[n])
		n++
	}
	return n
}

// Install makes m the current magazine, the current one the previous, and
// returns the previous, which is the caller's now; nil if there was none.
// Installing is right for whatever cell it meets, so a caller that fetched m
// without being pinned may arrive at another P than it left.
//
//go:norace
func (c *Cell) Install(m *Magazine) (out *Magazine) {
	if Race {
		Release(unsafe.Pointer(m))
	}
	out = c.prev
	c.cur, c.prev = m, c.cur
	if out == none {
		return nil
	}
	if Race {
		Acquire(unsafe.Pointer(out))
	}
	return out
}
