package memctx_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// replaced returns a context that has ended and one that has its node now: the child of
// parent, or a root.
func replaced(t *testing.T, parent *memctx.Context, name string) (old, now *memctx.Context) {
	open := func() *memctx.Context {
		conf := memctx.Config{Ident: "now", Limit: 1 << 20}
		if parent == nil {
			return memctx.New(name, conf)
		}
		return parent.Child(name, conf)
	}
	for range 1000 { // a collection, or the race detector, may take the node
		old = open()
		old.Delete()
		if now = open(); memctx.Replaced(old) && memctx.NodeOf(old) == memctx.NodeOf(now) {
			return old, now
		}
		now.Delete()
	}
	t.Fatal("no context was given the node of the one before")
	return
}

// Whoever uses a context that has ended is told so, also when another has its node, and
// that one is as it was.
func TestUseAfterReplacement(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	for _, parent := range []*memctx.Context{server, nil} {
		for _, held := range []bool{false, true} {
			old, now := replaced(t, parent, freshName("replaced"))
			release := func() {}
			if held {
				release = now.Retain()
			}
			below := now.Child("below")
			ran := 0
			now.OnReset(func() { ran++ })
			p := arena.NewFrom(now.Arena(), 7)
			before := now.Stats()
			for _, u := range uses {
				testkit.PanicText(t, "memctx: "+u.op+" of the deleted context "+old.Name(), func() { u.f(old) })
			}
			testkit.PanicText(t, "memctx: Bump of the deleted context "+old.Name(), func() { old.Bump() })
			for _, x := range []*memctx.Context{now, server} {
				testkit.PanicText(t, "memctx: SetParent of "+x.Path()+" to the deleted context "+old.Name(), func() { x.SetParent(old) })
			}
			if s := old.Stats(); s.Name != now.Name() || s.Path != now.Name() || s.Ident != "" || s.Limit != 0 ||
				s.Contexts != 1 || s.Own != (memctx.Usage{}) || s.Total != (memctx.Usage{}) || s.Leases != 0 || old.Parent() != nil || old.Ident() != "" {
				t.Errorf("%+v", s)
			}
			old.Walk(func(x *memctx.Context, depth int) bool {
				if x != old || depth != 0 {
					t.Errorf("Walk of what has ended saw %v", x)
				}
				return true
			})
			after := now.Stats()
			before.Age, after.Age = 0, 0
			if after != before || *p != 7 || ran != 0 || below.Parent() != now || old == now {
				t.Errorf("%d callbacks ran, value %d, before and after\n%+v\n%+v", ran, *p, before, after)
			}
			checkAll(t, server, old, now)
			now.Delete()
			release()
			if ran != 1 || memctx.StateOf(now) != "gone" {
				t.Errorf("%d callbacks ran, it is %s", ran, memctx.StateOf(now))
			}
		}
	}
	check.VerifyNoStale(t)
}

// A lease is given back once, and to the context it was taken of.
func TestReleaseAfterReplacement(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	var releases []func()
	for range 100 {
		old := server.Child("leased")
		release := old.Retain()
		old.Delete()
		release()
		now := server.Child("leased")
		held := now.Retain()
		releases = append(releases, release)
		for _, again := range releases {
			again()
		}
		if n := now.Stats().Leases; n != 1 {
			t.Fatalf("%d leases, want 1", n)
		}
		now.Delete()
		if memctx.StateOf(now) != "ended" {
			t.Fatal("a lease of another context was taken for this one's")
		}
		held()
	}
	checkAll(t, server)
}

// What has a part in limits after its end, because something below was abandoned, keeps its
// node, and so does what was abandoned.
func TestNotReplaced(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	name := freshName("bound")
	bound := server.Child(name, memctx.Config{Limit: 1 << 16})
	lost := bound.Child("lost")
	lost.Abandon()
	bound.Delete()
	for range 100 {
		c := server.Child(name)
		if memctx.NodeOf(c) == memctx.NodeOf(bound) {
			t.Fatal("a ledger with claims serves another context")
		}
		c.Delete()
	}
	arena.MakeSlice[byte](lost.Arena(), 1000, 1000)
	if n := memctx.Taken(bound); n < 1000 || memctx.Taken(server) != n {
		t.Errorf("%d bytes are taken, and %d above", n, memctx.Taken(server))
	}
	checkAll(t, server, bound, lost)
	lost.Delete()
	for range 100 {
		c := server.Child("lost")
		if memctx.NodeOf(c) == memctx.NodeOf(lost) {
			t.Fatal("an abandoned context's node serves another")
		}
		c.Delete()
	}
}

// Goroutines describe, and try to use, contexts that have ended long ago, while others have
// their nodes: none of these notices.
func TestReplacementRace(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	const n = 200
	var olds []*memctx.Context
	for range 50 {
		c := server.Child("race")
		c.Delete()
		olds = append(olds, c)
	}
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				old := olds[i%len(olds)]
				if p := old.Path(); p != "race" && p != "server/race" || old.Ident() != "" {
					t.Errorf("Path is %q, Ident %q", p, old.Ident())
				}
				if s := old.Stats(); s.Own.Bytes != 0 || s.Leases != 0 || s.Limit != 0 {
					t.Errorf("%+v", s)
				}
				old.Walk(func(*memctx.Context, int) bool { return true })
				for _, use := range []func(){func() { old.Retain() }, func() { old.Child("x") }, func() { old.Arena() }, old.Delete, old.Reset, old.Abandon} {
					if text, _ := testkit.Panic(t, use).(string); !strings.Contains(text, "deleted context") {
						t.Errorf("panic %q", text)
					}
				}
			}
		}()
	}
	for range n {
		c := server.Child("race", memctx.Config{Ident: strings.Repeat("x", 9), Limit: 1 << 16})
		ran := false
		c.OnReset(func() { ran = true })
		p := arena.NewFrom(c.Arena(), 7)
		if q := c.Child("y"); *p != 7 || ran || c.Stats().Leases != 0 || slices.Contains(olds, c) || q.Parent() != c {
			t.Errorf("somebody used %v", c)
		}
		c.Delete()
		if !ran {
			t.Error("the callback did not run")
		}
	}
	close(stop)
	wg.Wait()
	checkAll(t, server)
}

// FirstChunk and Retain reach the context's arena, and leave it with the context.
func TestArenaConfig(t *testing.T) {
	testkit.NeedsReuse(t)
	name := freshName("configured")
	c := memctx.New(name, memctx.Config{FirstChunk: 8192, Retain: -1})
	arena.New[[3]int](c.Arena())
	if n := c.Stats().Own.Bytes; n < 8000 || n > 9000 {
		t.Errorf("the first chunk takes %d bytes, want some 8192", n)
	}
	c.Reset()
	if n := c.Stats().Own.Bytes; n != 0 {
		t.Errorf("%d bytes are kept, want none", n)
	}
	c.Delete()
	c = memctx.New(name)
	defer c.Delete()
	arena.New[[5]int](c.Arena())
	if n := c.Stats().Own.Bytes; n == 0 || n > 4096 {
		t.Errorf("the first chunk of the next context takes %d bytes", n)
	}
	c.Reset()
	if n := c.Stats().Own.Bytes; n == 0 {
		t.Error("nothing is kept")
	}
}

// A context with a limit is charged for its own arena and for what is below it at once: the
// sums are right.
func TestArenaComesWhileBelowIsCharged(t *testing.T) {
	testkit.NeedsReuse(t)
	name := freshName("limited")
	warm := memctx.New(name)
	arena.New[[50]int](warm.Arena())
	warm.Delete()
	charged := 0
	for range 300 {
		c := memctx.New(name, memctx.Config{Limit: 1 << 30})
		var wg sync.WaitGroup
		at, stop := make(chan bool), make(chan bool)
		for range 2 {
			below := c.Child("below")
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer below.Delete()
				for {
					arena.MakeSlice[byte](below.Arena(), 5000, 5000)
					below.Arena().Reset()
					below.Arena().Trim(0)
					select {
					case <-stop:
						return
					case at <- true:
					default:
					}
				}
			}()
		}
		<-at
		<-at
		if c.Arena().Stats().Reserved > 0 {
			charged++
		}
		arena.New[[50]int](c.Arena()) // or the next one finds nothing after a while
		close(stop)
		wg.Wait()
		if got, want := memctx.Taken(c), c.Arena().Stats().Reserved; got != want {
			t.Fatalf("%d bytes are taken, want %d", got, want)
		}
		checkAll(t, c)
		c.Delete()
	}
	if charged < 100 {
		t.Errorf("%d of 300 contexts had a warm arena", charged)
	}
}
