package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// A Table in the check build: the memory of an element that was removed is poisoned,
// and waits in a queue before its slot is free. A handle to it is no mistake, but a
// write through a pointer is.

// begin begins an operation, in which nothing calls back into the program.
func (t *table) begin() *check.Busy {
	t.busy.Get().Enter(check.Here(3), t.title)
	return t.busy.Get()
}

// noteInsert takes down that the memory at p has an element.
func (t *table) noteInsert(p unsafe.Pointer) {
	defer t.begin().Exit()
	t.checked.Get().Alloc(p, t.name, t.title(), t.typ)
}

// removeChecked poisons p, the element of s, which is zero, and has it wait.
func (t *table) removeChecked(s *slotHead, p unsafe.Pointer, place uint32) {
	if bad := t.putAside(s, p, place); bad != nil {
		check.Raise(bad)
	}
}

// putAside is removeChecked but for the report on what leaves for s.
func (t *table) putAside(s *slotHead, p unsafe.Pointer, place uint32) *check.Report {
	defer t.begin().Exit()
	free := func() {
		s.next = t.free
		t.free = place
	}
	if t.size == 0 {
		free()
		return nil
	}
	t.checked.Get().Free(p, free)
	return t.checked.Get().Leave(false, func(h check.Held) {
		t.wipe(h.P)
		h.Restore()
	})
}
