package memctx_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// VerifyNone fails for what was released and is referred to, once, and collects by
// itself if something waits.
func TestVerifyNoneOfStale(t *testing.T) {
	verify()
	was := count(found("stale", "stale pointers"))
	sampled(t)
	end := stale.All()
	c, line := memctx.New("stale pointers"), here(0)
	kept := arena.New[[10]int](c.Arena())
	c.Delete()
	end()
	text := verify()
	for _, want := range []string{
		"haven: 1 stale pointer:\n1 × arena \"stale pointers\": ", ": something still points into a chunk of [10]int, ", "memctx_test.TestVerifyNoneOfStale(...)\n",
		"\nmade at\ngithub.com/haven-mem/haven/memctx_test.TestVerifyNoneOfStale(...)\n\t" + line,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := verify(); text != "" {
		t.Errorf("a second time: %s", text)
	}
	runtime.KeepAlive(kept)

	list := found("stale", "stale pointers")
	if len(list) != 1 || count(list) != was+1 || list[0].Type != "[10]int" || list[0].Chunks != 1 || list[0].What != "arena" ||
		!strings.HasSuffix(text, list[0].Released+"made at\n"+list[0].Stack) || !strings.HasPrefix(list[0].String(), fmt.Sprintf("%d × arena \"stale pointers\": ", was+1)) {
		t.Errorf("%+v", list)
	}
}

// Nothing that waits costs no collection.
func TestVerifyNoneWithoutStale(t *testing.T) {
	verify()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if text := verify(); text != "" {
			t.Error(text)
		}
	}
	if runtime.ReadMemStats(&after); after.NumForcedGC != before.NumForcedGC {
		t.Errorf("%d collections", after.NumForcedGC-before.NumForcedGC)
	}
}

// What is dropped for the watch is not charged: a subtree with a limit goes on.
func TestWatchedIsNotCharged(t *testing.T) {
	testkit.NeedsReuse(t)
	check.VerifyNoStale(t)
	root := memctx.New("watched", memctx.Config{Limit: 200_000})
	defer root.Delete()
	for i := range 100 {
		c := root.Child("watched below")
		arena.MakeSlice[byte](c.Arena(), 100_000, 100_000)
		arena.MakeSlice[byte](root.Arena(), 0, 50_000)
		if i%2 == 0 {
			c.Reset()
			arena.MakeSlice[byte](c.Arena(), 100_000, 100_000)
		}
		c.Delete()
		root.Reset()
		if n := root.Stats().Total.Bytes; n != 0 {
			t.Fatalf("%d bytes are charged", n)
		}
	}
}

// What a lease holds, and what was abandoned, is nobody's mistake.
func TestHeldIsNotStale(t *testing.T) {
	check.VerifyNoStale(t)
	first := stale.Now()
	root := memctx.New("holders")
	c := root.Child("held")
	held := arena.New[[10]int](c.Arena())
	c.Retain()
	root.Reset()
	abandoned := root.Child("left")
	kept := arena.New[[10]int](abandoned.Arena())
	abandoned.Abandon()
	abandoned.Delete()
	if list, _ := stale.Since(first); len(list) > 0 {
		t.Error(stale.List(list))
	}
	*held = [10]int{}
	c.Release()
	root.Delete()
	runtime.KeepAlive(kept)
}
