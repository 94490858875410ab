package bump

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/stale"
)

// surrender leaves the chunks to the garbage collector and has it look whether
// something still points to them: see package internal/stale.
//
// As long as chunks know their root, and the root them, one that is pointed to
// keeps all. So they part. What is left in a chunk is what it was made with, zero
// and a pointer to a root without chunks: no pointer into a chunk that is gone.
func (a *Arena) surrender() {
	r := stale.Begin("bump arena", a.name, a.made)
	for i := range a.root.chunks {
		b := &a.root.chunks[i]
		b.clear()
		// SAFETY: GC.md fact 3: a chunk begins head bytes before its data. The
		// pointer is for a weak one (GC.md fact 21).
		r.Add("untyped memory", (*byte)(unsafe.Add(b.data, -int(head))), int(b.size+overhead))
	}
	a.root.chunks = nil
	a.root = nil
	r.Watch()
}
