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

type members struct{ living[Objects] }

// A living is a list that keeps nothing alive.
type living[T any] struct {
	mu   sync.Mutex
	list []weak.Pointer[T]
	next int // length at which to look for those that died
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
		if o := w.Value(); o != nil {
			live = append(live, o)
			kept = append(kept, w)
		}
	}
	m.list = kept
	return live
}

// find returns the object of any cache that p points into, and how far.
func (m *members) find(p unsafe.Pointer) (*object, uintptr) {
	for _, o := range m.all() {
		if x, off := o.find(p); x != nil {
			return x, off
		}
	}
	return nil, 0
}

func verifyObjects() (found []*Report) {
	for _, o := range everyone.all() {
		found = append(found, o.verify()...)
	}
	return found
}
