package memctx_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// uses are the methods that need a context which is neither zero nor deleted, each
// with what its panic says in front.
var uses = []struct {
	op string
	f  func(c *memctx.Context)
}{
	{"Arena", func(c *memctx.Context) { c.Arena() }},
	{`Child("x")`, func(c *memctx.Context) { c.Child("x", memctx.Limit(5)) }},
	{`Child("x")`, func(c *memctx.Context) { c.TryChild("x") }},
	{"OnReset", func(c *memctx.Context) { c.OnReset(func() {}) }},
	{"Reset", (*memctx.Context).Reset},
	{"ResetChildren", (*memctx.Context).ResetChildren},
	{"Delete", (*memctx.Context).Delete},
	{"SetParent", func(c *memctx.Context) { c.SetParent(nil) }},
	{"SetParent", func(c *memctx.Context) { c.SetParent(c) }},
	{"Retain", (*memctx.Context).Retain},
	{"Abandon", (*memctx.Context).Abandon},
}

// Use after Delete panics, and names what was used and which context.
func TestUseAfterDelete(t *testing.T) {
	server := memctx.New("server")
	for what, end := range map[string]func(c *memctx.Context){
		"Delete":           (*memctx.Context).Delete,
		"Delete above":     func(c *memctx.Context) { c.Parent().Delete() },
		"Reset above":      func(c *memctx.Context) { c.Parent().Reset() },
		"Delete far above": func(*memctx.Context) { server.Reset() },
		"the last lease": func(c *memctx.Context) {
			c.Retain()
			c.Delete()
			c.Release()
		},
		"Delete after Abandon": func(c *memctx.Context) {
			c.Abandon()
			c.Delete()
		},
	} {
		for _, warm := range []bool{false, true} {
			request := server.Child("conn", memctx.Ident("17")).Child("request")
			if warm {
				arena.New[int](request.Arena())
			}
			end(request)
			for _, u := range uses {
				testkit.PanicText(t, "memctx: "+u.op+" of the deleted context server/conn[17]/request", func() { u.f(request) })
			}
			testkit.PanicText(t, "memctx: Release without Retain of server/conn[17]/request", request.Release)
			// What describes it does not need it alive.
			s := request.Stats()
			if request.Path() != "server/conn[17]/request" || s.Name != "request" || s.Contexts != 1 || s.Own.Bytes != 0 || s.Deleted {
				t.Errorf("%s: %+v", what, s)
			}
			checkAll(t, server, request)
		}
	}
	// The arena that one took from it does, too.
	c := server.Child("request")
	a := c.Arena()
	c.Delete()
	testkit.PanicText(t, `arena: New on arena "request" after Put into its Pool`, func() { arena.New[uint16](a) })
	server.Delete()
	checkAll(t, server)
}

func TestZeroContext(t *testing.T) {
	c := new(memctx.Context)
	for _, u := range uses {
		testkit.PanicText(t, "memctx: "+u.op+" of a zero Context: make one with New or Child", func() { u.f(c) })
	}
	testkit.PanicText(t, "memctx: Release of a zero Context: make one with New or Child", c.Release)
	if c.Name() != "" || c.Ident() != "" || c.Path() != "(zero)" || c.Parent() != nil || c.Stats().Own.Bytes != 0 {
		t.Errorf("%v", c)
	}
	c.Walk(func(x *memctx.Context, depth int) bool {
		if x != c || depth != 0 {
			t.Errorf("Walk saw %v at depth %d", x, depth)
		}
		return true
	})
}

func TestBadOptions(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	for _, x := range []struct {
		opts []memctx.Option
		text string
	}{
		{[]memctx.Option{memctx.Limit(-1)}, "Limit(-1): want a number of bytes, 0 or more"},
		{[]memctx.Option{memctx.Reserve(-5), memctx.Limit(3)}, "Reserve(-5): want a number of bytes, 0 or more"},
		{[]memctx.Option{memctx.Reserve(11), memctx.Limit(10)}, "Reserve(11) with Limit(10): want no more than the limit"},
		{[]memctx.Option{memctx.MaxAge(-time.Second)}, "MaxAge(-1s): want 0 or more"},
	} {
		testkit.PanicText(t, `memctx: New("x"): `+x.text, func() { memctx.New("x", x.opts...) })
		testkit.PanicText(t, `memctx: Child("x") of server: `+x.text, func() { server.Child("x", x.opts...) })
		testkit.PanicText(t, `memctx: Child("x") of server: `+x.text, func() { server.TryChild("x", x.opts...) })
	}
	testkit.PanicText(t, `memctx: New with an empty name: want the name of a kind of work, like "request"`, func() { memctx.New("") })
	testkit.PanicText(t, `memctx: Child of server with an empty name: want the name of a kind of work, like "request"`, func() { server.Child("") })
	testkit.PanicText(t, "memctx: OnReset(nil) of server", func() { server.OnReset(nil) })
	testkit.PanicText(t, "memctx: OnReset(nil)", func() { (*memctx.Context)(nil).OnReset(nil) })
	testkit.PanicText(t, "memctx: DumpOnSignal(nil): want a signal, like syscall.SIGUSR1", func() { memctx.DumpOnSignal(nil) })
	if s := server.Stats(); s.Contexts != 1 {
		t.Errorf("%v", s)
	}
	// What fits just so is right.
	server.Child("x", memctx.Limit(10), memctx.Reserve(10), memctx.MaxAge(0), memctx.Ident("")).Delete()
	server.Child("x", memctx.Limit(0), memctx.Reserve(0)).Delete()
	checkAll(t, server)
	if n := namesOf(t, "x"); n.Created != n.Deleted {
		t.Errorf("%v", n)
	}
}

// A callback must not end its own context.
func TestMisuseInCallback(t *testing.T) {
	for op, f := range map[string]func(*memctx.Context){
		"Reset": (*memctx.Context).Reset, "Delete": (*memctx.Context).Delete, "ResetChildren": (*memctx.Context).ResetChildren,
	} {
		for _, end := range []func(*memctx.Context){(*memctx.Context).Reset, (*memctx.Context).Delete} {
			server := memctx.New("server")
			ran := 0
			server.OnReset(func() { ran++ })
			server.OnReset(func() { f(server) })
			server.OnReset(func() { ran++ })
			arena.New[int](server.Arena())
			testkit.PanicText(t, "memctx: "+op+" inside an OnReset callback of server", func() { end(server) })
			if ran != 2 {
				t.Errorf("%d callbacks ran", ran)
			}
			checkAll(t, server)
			if memctx.StateOf(server) == "live" {
				server.Delete()
			}
			checkAll(t, server)
		}
	}
}

// An arena belongs to its context: who frees it, or puts it into a pool, is told so
// when the context ends, and the tree is as it should be.
func TestArenaTakenAway(t *testing.T) {
	var pool arena.Pool
	for _, x := range []struct {
		f    func(*arena.Arena)
		text string
	}{
		{(*arena.Arena).Free, `%s after Free of arena "taken"`},
		{pool.Put, `%s on arena "taken" after Put into its Pool`},
	} {
		server := memctx.New("server", memctx.Limit(1<<20))
		c := server.Child("taken")
		ran := false
		c.OnReset(func() { ran = true })
		arena.New[[100]int](c.Arena())
		x.f(c.Arena())
		testkit.PanicText(t, "arena: "+fmt.Sprintf(x.text, "Pool.Put"), c.Delete)
		if memctx.StateOf(c) != "gone" || !ran || memctx.Taken(server) != 0 {
			t.Errorf("it is %s, callback ran: %t, %d bytes are taken", memctx.StateOf(c), ran, memctx.Taken(server))
		}
		checkAll(t, server, c)
		server.Delete()
	}
}
