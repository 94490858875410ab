package bump_test

import (
	"runtime"
	"testing"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// What a Reset leaves to the garbage collector is zero, so that who still has a
// pointer finds none to a chunk that is gone; and the arena goes on as it does after
// any Reset.
func TestWatchedReset(t *testing.T) {
	testkit.NeedsReuse(t)
	type pair struct{ next, self *pair }
	defer stale.All()()
	var a bump.Arena
	for _, n := range []int{1, 10, 1000, 10_000} {
		var all []*pair
		for i := range n {
			p := bump.New[pair](&a)
			if *p != (pair{}) {
				t.Fatalf("object %d of %d is not zero", i, n)
			}
			if p.self = p; i > 0 {
				p.next = all[i-1]
			}
			all = append(all, p)
		}
		serial := stale.Now()
		a.Reset()
		if s := a.Stats(); s.Chunks != 0 || s.Reserved != 0 {
			t.Errorf("%d objects: %v", n, s)
		}
		if got := stale.Now() - serial; got != 1 {
			t.Errorf("%d objects: %d releases are watched", n, got)
		}
		for i, p := range all {
			if !sanitize.Poisons && *p != (pair{}) {
				t.Fatalf("object %d of %d is not cleared: %+v", i, n, *p)
			}
		}
		runtime.KeepAlive(all)
		a.Reset() // of nothing
		if got := stale.Now() - serial; got != 1 {
			t.Errorf("%d objects: a Reset of nothing is watched", n)
		}
	}
}

// A chunk of 32 MiB costs as much to make as 32 of one, and is watched as often as one
// of them.
func TestLargeIsWatchedSeldom(t *testing.T) {
	testkit.NeedsReuse(t)
	defer stale.SampleEvery(0)
	stale.SampleEvery(2)
	const n = 200
	var a bump.Arena
	serial := stale.Now()
	for range n {
		a.Alloc(32<<20, 1)
		a.Reset()
	}
	// Of 100 one in 32, and six standard deviations.
	if watched := stale.Now() - serial; watched > 14 {
		t.Errorf("%d of %d releases are watched", watched, n)
	}
}
