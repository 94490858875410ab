//go:build haven_check

package check

import (
	"sync"
	"unsafe"
	"weak"
)

// everyone has the caches whose objects are known, to name the one that a foreign
// pointer belongs to.
var everyone members

type members struct{ living[self] }

// A living is a list that keeps nothing alive.
type living[T any] struct {
	mu   sync.Mutex
	list []weak.Pointer[T]
	next int // length at which to look for those that died
}

// A self stands for Objects in weak pointers, which must not refer to a global
// variable (GC.md fact 15), as a zero Cache may well be.
type self struct{ o *Objects }

func (m *members) add(o *Objects) {
	o.self = &self{o}
	o.held = heldBy(o.self)
	m.living.add(o.self)
}

func (m *living[T]) add(o *T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) >= max(m.next, 64) {
		m.sift()
		m.next = 2 * len(m.list)
	}
	m.list = append(m.list, weak.Make(o))
}

// all returns those that are alive.
func (m *living[T]) all() []*T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sift()
}

// sift drops those that are not alive and returns the others.
func (m *living[T]) sift() (live []*T) {
	kept := m.list[:0]
	for _, w := range m.list {
		if s := w.Value(); s != nil {
			live = append(live, s)
			kept = append(kept, w)
		}
	}
	m.list = kept
	return live
}

// find returns the object of any cache that p points into, and how far.
func (m *members) find(p unsafe.Pointer) (*object, uintptr) {
	for _, s := range m.all() {
		if x, off := s.o.find(p); x != nil {
			return x, off
		}
	}
	return nil, 0
}

func verifyObjects() (found []*Report) {
	for _, s := range everyone.all() {
		found = append(found, s.o.verify()...)
	}
	return append(found, verifyIdle()...)
}
