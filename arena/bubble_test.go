//go:build go1.25

package arena_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// A pool that is first used in a bubble of testing/synctest is trimmed there, in the next one
// and in the world.
func TestPoolInBubbles(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "HAVEN_STALE=0")
		return
	}
	var p arena.Pool
	trims := func(t *testing.T) {
		var out []*arena.Arena
		for i := range 100 {
			a := p.Get()
			arena.NewFrom(a, node{key: i})
			out = append(out, a)
		}
		for _, a := range out {
			p.Put(a)
		}
		testkit.Eventually(t, "pool at its floor", func() bool { return checkPool(t, &p).Idle == runtime.GOMAXPROCS(0) })
	}
	for range 3 {
		synctest.Test(t, trims)
	}
	trims(t)
}
