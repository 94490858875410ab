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
	testkit.CollectGarbage() // whose round may have been under way
	before := gccycle.Epoch()
	for range 1000 {
		gccycle.Count()
	}
	if gccycle.Epoch() != before {
		t.Errorf("without a collection from %d to %d", before, gccycle.Epoch())
	}
	testkit.Eventually(t, "a collection counts", func() bool { return gccycle.Epoch() != before })
}
