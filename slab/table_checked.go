package slab

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// A Table in the check build: the memory of an element that was removed is poisoned,
// and waits in a queue before its slot is free. A handle to it is no mistake, but a
// write through a pointer is.

// begin begins an operation, in which nothing calls back into the program.
func (t *Table[T]) begin() *check.Busy {
	t.busy.Enter(check.Here(3), t.title)
	return &t.busy
}

// noteInsert takes down that the memory at p has an element.
func (t *Table[T]) noteInsert(p *T) {
	defer t.begin().Exit()
	t.checked.Alloc(unsafe.Pointer(p), t.name, t.title(), reflect.TypeFor[T]())
}

// removeChecked poisons the memory of s, which is zero, and has it wait.
func (t *Table[T]) removeChecked(s *tableSlot[T], place uint32) {
	if bad := t.putAside(s, place); bad != nil {
		check.Raise(bad)
	}
}

// putAside is removeChecked but for the report on what leaves for s.
func (t *Table[T]) putAside(s *tableSlot[T], place uint32) *check.Report {
	defer t.begin().Exit()
	free := func() {
		s.next = t.free
		t.free = place
	}
	if unsafe.Sizeof(s.v) == 0 {
		free()
		return nil
	}
	t.checked.Free(unsafe.Pointer(&s.v), free)
	for range t.checked.Waiting() {
		h, bad := t.checked.Leave(false)
		if h.P == nil {
			break
		}
		wipe((*T)(h.P))
		h.Restore()
		if bad != nil {
			return bad
		}
	}
	return nil
}
