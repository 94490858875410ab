package bump

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// In the check build there is a red zone on either side of each allocation, and the
// arena's chunks are known with what was allocated in them: where, by whom, and of
// which type. A Reset poisons them and puts them into quarantine, with a chunk of the
// same size in the place of one that would be kept. Red zones count as overhead, so
// that what is in use is what it is in the default build.

// zone is the size in bytes of a red zone: 0 in the other builds.
const zone = check.Zone

// add counts an allocation of the block.
func (b *block) add() { *b.allocs.Get()++ }

// zones returns what red zones take.
func (b *block) zones() uintptr {
	if !check.Enabled {
		return 0
	}
	return 2 * zone * *b.allocs.Get()
}

// seen returns what is known of the arena's memory; nil knows nothing.
func (a *Arena) seen() *check.Untyped {
	if !check.Enabled || a.root == nil {
		return nil
	}
	return *a.root.seen.Get()
}

// noteChunk takes down a chunk that was just added.
func (r *root) noteChunk(b block, a *Arena) {
	if !check.Enabled {
		return
	}
	seen := r.seen.Get()
	if *seen == nil {
		*seen = check.NewUntyped(a.title())
	}
	(*seen).Add(b.data, b.size)
}

// newChecked is [New], with red zones. It finds a copy of an arena at once.
func newChecked[T any](a *Arena) *T {
	if a.self != a {
		a.unusable("New")
	}
	site := check.Here(2)
	a.busy.Get().Enter(site, a.title)
	defer a.busy.Get().Exit()
	cells := unsafe.Sizeof(cell[T]{}) + 2*zone
	if a.left <= cells {
		a.grow(cells)
	}
	a.left -= cells
	a.open.add()
	at := uintptr(a.base) - uintptr(a.open.data) + a.left + zone
	var zero T
	a.seen().High(at, unsafe.Sizeof(zero), reflect.TypeFor[T](), site)
	check.RaiseAll(a.seen().Lost(false))
	// SAFETY: GC.md fact 5: a T and two zones lie in the open chunk at left.
	return (*T)(unsafe.Add(a.open.data, at))
}

// noteLow takes down the latest low allocation, which has size bytes.
func (a *Arena) noteLow(size uintptr) {
	if !check.Enabled {
		return
	}
	site := check.Here(3)
	a.busy.Get().Enter(site, a.title)
	defer a.busy.Get().Exit()
	a.open.add()
	a.seen().Low(a.last, size, site)
	check.RaiseAll(a.seen().Lost(false))
}

// noteGrown takes down that the latest low allocation becomes one that ends at an
// offset. Its red zone is looked at before it moves.
func (a *Arena) noteGrown(end uintptr) {
	raise(a.seen().Latest())
	a.seen().Grow(end - a.last)
}

// noteType says what the latest low allocation holds, if p points to it.
func (a *Arena) noteType(p unsafe.Pointer, t reflect.Type) {
	if check.Enabled && a.open.data != nil {
		a.seen().SetType(p, t)
	}
}

// checkAround looks at the red zones of the allocation that p points into.
func (a *Arena) checkAround(p unsafe.Pointer) { raise(a.seen().Around(p)) }

// abandon is for what p points into and was copied: a look at its red zones, the last.
func (a *Arena) abandon(p unsafe.Pointer) {
	a.checkAround(p)
	a.seen().Abandon(p)
}

// verify looks at all red zones, and for pointers to what is gone.
func (a *Arena) verify() {
	if seen := a.seen(); seen != nil {
		check.RaiseAll(append(seen.Damage(), seen.Lost(true)...))
	}
}

func raise(bad *check.Report) {
	if bad != nil {
		bad.Now = check.Release().String()
		check.Raise(bad)
	}
}
