package soak_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A rest is what there is while nobody is at work.
type rest struct {
	goroutines int
	dropped    uint64 // roots, by an earlier run of the test
	bytes      int    // of the server's own arena
	heap       uint64 // bytes in use, without those of warm arenas
	early      uint64 // the most there were in the first third of the time
	warm       int
}

func (s *soak) newRest() *rest {
	return &rest{goroutines: runtime.NumGoroutine(), dropped: soakDropped(), bytes: s.server.Stats().Own.Bytes}
}

// growth is how much more of the heap may be in use at the end than after the
// first third: the leak finder may have found more, and the runtime's own tables
// grow.
const growth = 1 << 20

// check fails the test if something is left of a round. Early rounds only take
// down how much of the heap is in use.
//
// It works with as many Ps as there ever were, since cleanups that are with a P
// which went wait for its return (GC.md fact 15).
func (r *rest) check(t *testing.T, s *soak, early bool) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(maxProcs))
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > r.goroutines && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > r.goroutines {
		t.Errorf("%d goroutines, %d before", n, r.goroutines)
	}
	if n := s.pending.Load(); n != 0 {
		t.Errorf("%d callbacks did not run", n)
	}

	// Nobody has a part of the limit, once the garbage collector has found what was
	// abandoned.
	testkit.Eventually(t, "the server's ledger has only what its own arena has", func() bool { return ledger(s.server, serverLimit) == r.bytes })
	if n := ledger(s.server, serverLimit); n != r.bytes {
		t.Errorf("the server's ledger has %d bytes, want %d", n, r.bytes)
	}

	testkit.Eventually(t, "all roots that were dropped are counted", func() bool { return soakDropped()-r.dropped == s.dropped.Load() })

	// The tree is as it was.
	for c := range memctx.Roots() {
		if c != s.server {
			t.Errorf("a root is left: %v", c)
		}
	}
	if st := s.server.Stats(); st.Contexts != 2 || st.Total.Bytes != r.bytes || st.Total.HighWater > serverLimit || st.Leases != 0 {
		t.Errorf("want the server with %d bytes, below its limit, and the cache: %v", r.bytes, st)
		s.server.Walk(func(c *memctx.Context, depth int) bool { t.Log(c); return true })
	}
	for _, v := range s.stock {
		if err := v.verify(); err != nil {
			t.Error(err)
		}
	}

	// Names add up.
	warm := 0
	for n := range soakNames() {
		if w := n.Warm; n.Created != uint64(n.Live)+n.Deleted+n.Abandoned+n.Dropped || w.Gets != w.Hits+w.Misses || w.Puts != w.Dropped+w.Trimmed+uint64(w.Idle)+w.Hits {
			t.Errorf("does not add up: %v", n)
		}
		warm += n.Warm.Reserved
	}

	// And the heap has what it had, but for warm memory.
	r.heap, r.warm = testkit.HeapInUse()-uint64(warm), warm
	if early {
		r.early = max(r.early, r.heap)
	} else if r.early > 0 && r.heap > r.early+growth && !check.Enabled { // which remembers releases
		t.Errorf("%v", r)
	}
}

func (r *rest) String() string {
	return fmt.Sprintf("%d bytes of the heap in use, beside %d that are warm; it was %d at most in the first third", r.heap, r.warm, r.early)
}

// soakDropped returns how many roots were dropped.
func soakDropped() uint64 {
	dropped := uint64(0)
	for n := range soakNames() {
		dropped += n.Dropped
	}
	return dropped
}

func soakNames() func(func(memctx.NameStats) bool) {
	return func(yield func(memctx.NameStats) bool) {
		for n := range memctx.Names() {
			if len(n.Name) > 5 && n.Name[:5] == "soak-" && !yield(n) {
				return
			}
		}
	}
}

// ledger returns what a context with a limit counts for itself and those below,
// which an error for more than the limit says.
func ledger(c *memctx.Context, limit int) int {
	_, err := c.TryChild("soak-probe", memctx.Config{Reserve: limit + 1})
	var e *arena.LimitError
	if !errors.As(err, &e) {
		return -1
	}
	return e.Used
}
