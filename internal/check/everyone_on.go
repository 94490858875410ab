//go:build haven_check

package check

import (
	"sync"
	"unsafe"
	"weak"
)

// everyone has the caches whose objects are known, to name the one that a foreign
// pointer belongs to. It keeps none alive.
var everyone members

type members struct {
	mu   sync.Mutex
	list []weak.Pointer[self]
}

// A self stands for Objects in weak pointers, which must not refer to a global
// variable (GC.md fact 15), as a zero Cache may well be.
type self struct{ o *Objects }

func (m *members) add(o *Objects) {
	o.self = &self{o}
	o.held = heldBy(o.self)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, weak.Make(o.self))
}

// all returns those that are alive.
func (m *members) all() []*Objects {
	m.mu.Lock()
	defer m.mu.Unlock()
	var live []*Objects
	kept := m.list[:0]
	for _, w := range m.list {
		if s := w.Value(); s != nil {
			live = append(live, s.o)
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
	return append(found, verifyIdle()...)
}
