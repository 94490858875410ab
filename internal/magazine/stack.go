package magazine

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
)

// A Stack keeps large idle objects that nobody counts but itself, such as arenas. The
// zero Stack is ready. It may be used by any number of goroutines and must not be copied
// after first use.
//
// Each P has two magazines of a few objects, and what comes on top is a stack under a
// lock: under it, counted in objects,
//
//	charged = resting + limits of the magazines in cells  ≤ MaxIdle
//
// After each garbage collection half of the objects go that rested there all the time
// since the one before, the coldest first, but for one for each P. What lies in the
// magazines of a P is out of reach; a Stack that nobody used between two collections, and
// that has more than one object for each P, takes all magazines in.
//
// Each object has a number of bytes, which its user says and which does not change while
// it is idle.
type Stack[T any] struct{ s stack }

// StackStats describes a Stack. Its numbers add up as those of an arena.PoolStats do.
type StackStats struct {
	Idle, Bytes                                uint64
	Gets, Hits, Misses, Puts, Dropped, Trimmed uint64
}

// Get returns an idle object, or nil if there is none.
func (s *Stack[T]) Get() *T { return (*T)(s.s.get()) }

// Put adds an object of so many bytes, or drops it if MaxIdle are idle.
func (s *Stack[T]) Put(p *T, bytes int) { s.s.put(unsafe.Pointer(p), uint(bytes)) }

// Trim does what is to be done after a garbage collection. Somebody else calls it only in
// tests.
func (s *Stack[T]) Trim() { s.s.trim() }

// Stats returns the numbers. They are exact if nobody is at work.
func (s *Stack[T]) Stats() StackStats {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	return s.s.stats()
}

const (
	// MaxIdle is the most objects in a Stack.
	MaxIdle = 1024
	// StackRounds is the most that a magazine of a Stack takes. They may be large, and two
	// magazines for each P are beyond the reach of Trim.
	StackRounds = 2
)

type stack struct {
	set Set
	_   [64]byte // what follows changes, and would take the cache line above along

	mu      sync.Mutex
	resting []resting // the warmest last
	least   int       // the fewest there were since the last Trim
	charged int
	limit   int       // of a magazine
	spare   *Magazine // a list of empty ones
	self    *stackSelf
	lastOps uint64 // at the last Trim

	hits, misses, dropped, trimmed uint64 // what magazines in cells count is not in it yet
}

type resting struct {
	p     unsafe.Pointer
	bytes uint
}

// A stackSelf stands for a stack with gccycle, which must not be given a global variable,
// as the owner of a stack may well be (GC.md fact 15).
type stackSelf struct{ s *stack }

// get is the fast path with each step written out, as is put: what only differs in where
// the bytes are counted.
//
//go:norace
func (s *stack) get() (p unsafe.Pointer) {
	pid := Enter()
	if t := s.set.Table(); t != nil && t.Has(pid) {
		c := t.Cell(pid)
		if m := c.cur; c.CanPop() {
			p = c.Pop()
			m.bytes -= m.costs()[m.n]
		} else {
			p = c.PopCosted()
		}
		c.Leave()
	} else {
		Exit()
	}
	if p == nil {
		if p = s.refill(); p == nil {
			gccycle.Check()
			return nil
		}
	}
	if Race {
		Acquire(p)
	}
	return p
}

//go:norace
func (s *stack) put(p unsafe.Pointer, bytes uint) {
	if Race {
		Release(p)
	}
	pid := Enter()
	if t := s.set.Table(); t != nil && t.Has(pid) {
		c := t.Cell(pid)
		ok := c.CanPush()
		if m := c.cur; ok {
			m.costs()[m.n] = bytes
			m.bytes += bytes
			c.Push(p)
		} else {
			ok = c.PushCosted(p, bytes)
		}
		c.Leave()
		if ok {
			return
		}
	} else {
		Exit()
	}
	s.drain(p, bytes)
}

// enter returns the cell of the P, which the caller must leave, or nil if there is none.
func (s *stack) enter() *Cell {
	pid := Enter()
	if t := s.set.Table(); t != nil && t.Has(pid) {
		return t.Cell(pid)
	}
	Exit()
	return nil
}

// refill is get's slow way: the object that rests on top, and with it those below for the
// P, whose magazines are empty.
func (s *stack) refill() unsafe.Pointer {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.resting) - 1
	if n < 0 {
		s.misses++
		return nil
	}
	s.hits++
	p := s.resting[n].p
	s.cut(n)
	if m := s.empty(min(n, StackRounds)); m != nil {
		k := max(n-m.Limit(), 0)
		for _, r := range s.resting[k:] {
			m.AddCosted(r.p, r.bytes)
		}
		s.cut(k)
		s.exchange(m)
	}
	s.least = min(s.least, len(s.resting))
	return p
}

// drain is put's slow way: the P, whose magazines are full, gets an empty one.
func (s *stack) drain(p unsafe.Pointer, bytes uint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.self == nil {
		s.self = &stackSelf{s}
		gccycle.Watch(s.self, func(self *stackSelf, _ gccycle.Pressure) { self.s.trim() })
	}
	switch m := s.empty(0); {
	case m != nil:
		m.AddCosted(p, bytes)
		s.exchange(m)
	case s.charged < MaxIdle:
		s.charged++
		s.resting = append(s.resting, resting{p, bytes})
	default:
		s.dropped++
	}
}

// cut removes the resting objects from number n on.
func (s *stack) cut(n int) {
	s.charged -= len(s.resting) - n
	clear(s.resting[n:])
	s.resting = s.resting[:n]
}

// empty returns an empty magazine for a cell, of which so many objects are charged
// already, or nil if there is no room for one.
func (s *stack) empty(charged int) *Magazine {
	if s.set.Table() == nil {
		s.measure()
	}
	if s.limit == 0 || s.charged+s.limit-min(charged, s.limit) > MaxIdle {
		return nil
	}
	m := s.spare
	if m == nil || m.Limit() != s.limit {
		s.spare = nil
		return NewCosted(s.limit, ^uint(0))
	}
	s.spare, m.Next = m.Next, nil
	return m
}

// measure sets how large magazines are: half of the room is for what rests, however many
// Ps there are.
func (s *stack) measure() { s.limit = min(StackRounds, MaxIdle/(4*width())) }

// exchange gives m to the P and takes in the magazine that leaves it.
func (s *stack) exchange(m *Magazine) {
	s.charged += m.Limit()
	c := s.enter()
	for c == nil || c.Gone() {
		if c != nil {
			c.Leave()
		}
		if s.set.Open() {
			s.measure()
		}
		c = s.enter()
	}
	left := c.Install(m)
	c.Leave()
	if left != nil {
		s.flush(left)
	}
}

// flush takes in a magazine that left a cell, and its objects.
func (s *stack) flush(m *Magazine) {
	s.charged += m.Len() - m.Limit()
	pops, _ := m.Counts()
	s.hits += uint64(pops)
	for i, p := range m.Objects() {
		s.resting = append(s.resting, resting{p, m.Costs()[i]})
	}
	m.Empty()
	m.Next, s.spare = s.spare, m
}

func (s *stack) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, floor := s.stats(), runtime.GOMAXPROCS(0)
	quiet := st.Gets+st.Puts == s.lastOps
	if quiet {
		s.spare = nil
	}
	if quiet && int(st.Idle) > floor || !s.set.Fits() {
		s.set.Retire()
	}
	s.lastOps = st.Gets + st.Puts
	for _, m := range s.set.Settle() {
		s.flush(m)
	}
	n := min(s.least-s.least/2, max(int(st.Idle)-floor, 0))
	s.trimmed += uint64(n)
	s.charged -= n
	s.resting = slices.Delete(s.resting, 0, n)
	s.least = len(s.resting)
}

// stats returns the numbers. Magazines that are in use meanwhile change as it looks, so
// puts are what they must be.
func (s *stack) stats() StackStats {
	st := StackStats{Idle: uint64(len(s.resting)), Hits: s.hits, Misses: s.misses, Dropped: s.dropped, Trimmed: s.trimmed}
	for _, r := range s.resting {
		st.Bytes += uint64(r.bytes)
	}
	s.set.Walk(func(m *Magazine) {
		n, pops, _ := m.Peek()
		st.Idle += uint64(n)
		st.Hits += uint64(pops)
		st.Bytes += uint64(m.PeekBytes())
	})
	st.Gets = st.Hits + st.Misses
	st.Puts = st.Dropped + st.Trimmed + st.Idle + st.Hits
	return st
}
