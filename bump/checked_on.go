//go:build haven_check

package bump

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/stale"
)

// In the check build there is a red zone on either side of each allocation, and the
// arena's chunks are known with what was allocated in them: where, by whom, and of
// which type. A Reset poisons them and puts them into quarantine, with a chunk of the
// same size in the place of one that would be kept. Red zones count as overhead, so
// that what is in use is what it is in the default build.

// zone is the size in bytes of a red zone.
const zone = check.Zone

// A shadow is what an Arena has besides.
type shadow struct{ busy check.Only[check.Busy] }

// A known is what a root has besides.
type known struct{ seen *check.Untyped }

// A fence is what a block has besides: the number of its allocations.
type fence struct{ n uintptr }

func (f *fence) add() { f.n++ }

// bytes returns what red zones take.
func (f *fence) bytes() uintptr { return 2 * zone * f.n }

// noteChunk takes down a chunk that was just added.
func (r *root) noteChunk(b block, a *Arena) {
	if r.seen == nil {
		r.seen = check.NewUntyped(a.title())
	}
	r.seen.Add(b.data, b.size)
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
	a.root.seen.High(at, unsafe.Sizeof(zero), reflect.TypeFor[T](), site)
	check.RaiseAll(a.root.seen.Lost(false))
	// SAFETY: GC.md fact 5: a T and two zones lie in the open chunk at left.
	return (*T)(unsafe.Add(a.open.data, at))
}

// noteLow takes down the latest low allocation, which has size bytes.
func (a *Arena) noteLow(size uintptr) {
	site := check.Here(3)
	a.busy.Get().Enter(site, a.title)
	defer a.busy.Get().Exit()
	a.open.add()
	a.root.seen.Low(a.last, size, site)
	check.RaiseAll(a.root.seen.Lost(false))
}

// noteGrown takes down that the latest low allocation becomes one that ends at an
// offset. Its red zone is looked at before it moves.
func (a *Arena) noteGrown(end uintptr) {
	raise(a.root.seen.Latest())
	a.root.seen.Grow(end - a.last)
}

// noteType says what the latest low allocation holds, if p points to it.
func (a *Arena) noteType(p unsafe.Pointer, t reflect.Type) {
	if a.root != nil && a.open.data != nil {
		a.root.seen.SetType(p, t)
	}
}

// checkAround looks at the red zones of the allocation that p points into.
func (a *Arena) checkAround(p unsafe.Pointer) {
	if a.root != nil {
		raise(a.root.seen.Around(p))
	}
}

// abandon is for what p points into and was copied: a look at its red zones, the last.
func (a *Arena) abandon(p unsafe.Pointer) {
	a.checkAround(p)
	a.root.seen.Abandon(p)
}

// verify looks at all red zones, and for pointers to what is gone.
func (a *Arena) verify() {
	if a.root == nil {
		return
	}
	check.RaiseAll(append(a.root.seen.Damage(), a.root.seen.Lost(true)...))
}

func raise(bad *check.Report) {
	if bad != nil {
		bad.Now = check.Release().String()
		check.Raise(bad)
	}
}

// retire puts the chunks into quarantine, and a new one in the place of one that is to
// be kept. It reports whether it did: otherwise they are not poisoned.
func (a *Arena) retire(keep bool) bool {
	old := a.root
	if old.seen == nil {
		return false
	}
	site := check.Release()
	a.busy.Get().Enter(site, a.title)
	defer a.busy.Get().Exit()
	x := check.Retired{List: make([]check.Released, 0, len(old.chunks))}
	for i := range old.chunks {
		b := &old.chunks[i]
		r := old.seen.Release(i, b.lo, b.hi, site)
		if r == nil { // red zones only
			old.seen.Forget()
			return false
		}
		r.Poison()
		x.List = append(x.List, *r)
	}
	if stale.Each() {
		x.Left = a.watch(site)
	}
	seen, size := old.seen, old.chunks[0].size
	// Nobody goes from one chunk to the others any more.
	old.chunks, old.seen = nil, nil
	seen.Clear() // red zones are poison now
	a.root = nil
	if keep {
		a.root = &root{known: known{seen}}
		a.root.add(newBlock(a.root, size), a)
	}
	check.Retire(x)
	return true
}

// watch returns what has chunks watched that have left the quarantine.
func (a *Arena) watch(site check.Site) func([]check.Released) {
	now, name, made := clock.Now(), a.name, a.made
	return func(list []check.Released) {
		w := stale.BeginAt(site, now, "bump arena", name, made, len(list))
		for i := range list {
			// SAFETY: GC.md fact 3: a chunk begins head bytes before its data. The
			// pointer is for a weak one (GC.md fact 21).
			w.Add("untyped memory", (*byte)(unsafe.Add(list[i].Mem, -int(head))), list[i].Bytes()+int(overhead))
		}
		w.Watch()
	}
}
