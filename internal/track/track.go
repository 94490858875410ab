// Package track is the seam between allocators and what watches them: the check build,
// the sampled guard, the finder of stale pointers, and the sanitizers.
//
// An allocator asks when memory is taken back. As a rule nobody watches, which costs the
// decrement of a [Countdown]. Otherwise there is a [Release], which is shown each chunk,
// and answers what the allocator may use in its place:
//
//	check build      another: the chunk is poisoned and waits in quarantine
//	stale pointers   nothing: the chunk goes to the collector, and is watched
//	sampled guard    another: the chunk is poisoned, or the new one lies on pages of
//	                 its own, which have no access after the next release
//	default          itself
//
// What is handed out, and taken back one by one, is told to [Out] and [Back], for the
// sanitizers. For the check build an owner of objects has [Objects] or [Idle]; for the
// guard, which answers with another object, [Guarded]; and a pool, for stale pointers,
// [Marks].
package track

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Watched is true in builds in which each operation is watched: fast paths are left out.
const Watched = check.Enabled || sanitize.Poisons

// Sees is true in builds in which each release is watched.
const Sees = check.Enabled || sanitize.Enabled

// Out tells the sanitizers that somebody has the object of n bytes at p from now on,
// who may be on another P than whoever had it before.
func Out(p unsafe.Pointer, n uintptr) {
	if magazine.Race {
		magazine.Acquire(p)
	}
	sanitize.Grant(p, n)
}

// Back tells them that nobody has the object of n bytes at p any more.
func Back(p unsafe.Pointer, n uintptr) {
	sanitize.Revoke(p, n)
	if magazine.Race {
		magazine.Release(p)
	}
}
