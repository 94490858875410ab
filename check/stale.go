package check

import (
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
)

// StalePointers returns the stale pointers that were found since the program's start,
// what was found most often first: pointers to memory that its owner had released and
// would have handed out again. Their Kind is "stale".
//
// Of one release in 1024 the memory is not used again but left to the garbage collector:
// at Reset of an arena, a lane or a bump arena, at Put into a pool, where a slab is
// given back, and in the end of a memory context. A pointer that still refers to it two
// collections later was kept too long, and would have read another's values. Arrays
// count in full: a slice that was cut to [:0] has its old pointers behind its length
// until they are cleared.
//
// Memory of more than a MiB is watched as much less often as it is larger. The other
// releases cost about a nanosecond more. The environment variable HAVEN_STALE sets
// another number than 1024; 1 watches all, 0 none. It works in every build.
func StalePointers() []Finding {
	return findings(func(f *Finding) bool { return f.Kind == leak.Stale })
}

// OnStale has f called with each stale pointer when it is found, from now on, in place
// of the function that was given before; nil: none. The Count is 1. f is called
// on a goroutine of the runtime's, or on that of a [VerifyNoStale]: it should be
// short, and must not panic.
func OnStale(f func(Finding)) { stale.Tell(f) }

// VerifyNoStale is for the first line of a test: it watches each release until the end
// of the test, where [StalePointers] watches a sample. At the end, after two garbage
// collections, the test fails if memory of releases is still referred to, with a list
// of them and stacks.
//
// It runs after the Cleanup functions that are registered later. What the test
// started must have come to its end by then: a goroutine that still has a pointer
// is found. Since nothing that was released is used again, a test allocates more.
// VerifyNoStale sees the releases of the whole process, so it is not for tests
// that run in parallel with others.
func VerifyNoStale(t TestingT) {
	t.Helper()
	first := stale.Now()
	end := stale.All()
	t.Cleanup(func() {
		t.Helper()
		end()
		if list, _ := stale.Since(first); len(list) > 0 {
			t.Errorf("haven: %s", stale.List(list))
		}
	})
}
