package bump

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer an arena says what it hands out and takes back: see package
// internal/sanitize. With -asan and -msan no two allocations lie side by side: what
// runs over the end of one comes to memory that nobody has. The Zone bytes between
// them count as in use.

// newGranted is New with -asan and -msan, for objects of size bytes that take the
// bytes of a cell.
func (a *Arena) newGranted(size, cell uintptr) unsafe.Pointer {
	cell += sanitize.Zone
	if a.left <= cell {
		a.grow(cell)
	}
	a.left -= cell
	// SAFETY: as in New.
	p := unsafe.Add(a.base, a.left)
	sanitize.Grant(p, size)
	return p
}

// apart returns where a low allocation can start if the one before ended at lo.
// The address sanitizer knows words of eight bytes, of which it can withhold the
// last ones only.
func apart(lo uintptr) uintptr {
	if lo == 0 {
		return 0
	}
	return roundUp(lo) + sanitize.Zone
}

// grant says that size bytes at offset start of the open chunk are handed out.
func (a *Arena) grant(start, size uintptr) {
	if !sanitize.Poisons {
		return
	}
	// SAFETY: GC.md fact 5: they lie in the open chunk.
	sanitize.Grant(unsafe.Add(a.open.data, start), size)
}

// revoke takes back all that was handed out, as it is.
func (a *Arena) revoke() {
	if !sanitize.Enabled {
		return
	}
	a.leave()
	for _, b := range a.root.chunks {
		sanitize.RevokeRange(b.data, 0, b.lo)
		sanitize.RevokeRange(b.data, b.hi, b.size)
	}
}
