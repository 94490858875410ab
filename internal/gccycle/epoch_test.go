package gccycle_test

import (
	"testing"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// The epoch goes on with collections, and only with those.
func TestEpoch(t *testing.T) {
	if !testkit.InChild(t) { // other tests want that nobody listens
		testkit.MustChild(t)
		return
	}
	testkit.CountCollections(1)
	// What a collection has begun to count may be under way.
	before, still := uint32(0), false
	for try := 0; try < 20 && !still; try++ {
		before = gccycle.Epoch()
		for range 1000 {
			gccycle.Count()
		}
		still = gccycle.Epoch() == before
	}
	if !still {
		t.Errorf("without a collection from %d to %d", before, gccycle.Epoch())
	}
	testkit.Eventually(t, "a collection counts", func() bool { return gccycle.Epoch() != before })
}
