package check

import "github.com/haven-mem/haven/internal/registry"

// everyone has the caches whose objects are known, to name the one that a foreign
// pointer belongs to.
var everyone registry.List[self]

// A self stands for Objects in weak pointers, which must not refer to a global
// variable (GC.md fact 15), as a zero Cache may well be.
type self struct{ o *Objects }

// enlist makes o one of everyone.
func (o *Objects) enlist() {
	o.self = &self{o}
	o.held = heldBy(o.self)
	everyone.Add(o.self)
}

// findObject returns the object of any cache that an address is in, and how far.
func findObject(address uintptr) (*object, uintptr) {
	for s := range everyone.All() {
		if x, off := s.o.find(address); x != nil {
			return x, off
		}
	}
	return nil, 0
}

func verifyObjects() (found []*Report) {
	for s := range everyone.All() {
		found = append(found, s.o.verify()...)
	}
	return append(found, verifyIdle()...)
}
