package memctx_test

import (
	"slices"
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
	{`Child("x")`, func(c *memctx.Context) { c.Child("x", memctx.Config{Limit: 5}) }},
	{`Child("x")`, func(c *memctx.Context) { c.TryChild("x") }},
	{"OnReset", func(c *memctx.Context) { c.OnReset(func() {}) }},
	{"Reset", (*memctx.Context).Reset},
	{"ResetChildren", (*memctx.Context).ResetChildren},
	{"Delete", (*memctx.Context).Delete},
	{"SetParent", func(c *memctx.Context) { c.SetParent(nil) }},
	{"SetParent", func(c *memctx.Context) { c.SetParent(c) }},
	{"Retain", func(c *memctx.Context) { c.Retain() }},
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
			request := server.Child("conn", memctx.Config{Ident: "17"}).Child("request")
			if warm {
				arena.New[int](request.Arena())
			}
			end(request)
			for _, u := range uses {
				testkit.PanicText(t, "memctx: "+u.op+" of the deleted context server/conn[17]/request", func() { u.f(request) })
			}
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

func TestBadConfig(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	for _, x := range []struct {
		conf memctx.Config
		text string
	}{
		{memctx.Config{Limit: -1}, "Config.Limit is -1: want a number of bytes, 0 (no bound) or more"},
		{memctx.Config{Reserve: -5, Limit: 3}, "Config.Reserve is -5: want a number of bytes, 0 or more"},
		{memctx.Config{Reserve: 11, Limit: 10}, "Config.Reserve is 11: want no more than Limit, which is 10"},
		{memctx.Config{FirstChunk: -1}, "Config.FirstChunk is -1: want a number of bytes, 0 (the default) or more"},
		{memctx.Config{Retain: -2}, "Config.Retain is -2: want a number of bytes, 0 (the default), or -1 (nothing)"},
		{memctx.Config{MaxAge: -time.Second}, "Config.MaxAge is -1s: want a duration, 0 (never) or more"},
	} {
		testkit.PanicText(t, `memctx: New("x"): `+x.text, func() { memctx.New("x", x.conf) })
		testkit.PanicText(t, `memctx: Child("x") of server: `+x.text, func() { server.Child("x", x.conf) })
		testkit.PanicText(t, `memctx: Child("x") of server: `+x.text, func() { server.TryChild("x", x.conf) })
	}
	testkit.PanicText(t, "memctx: New: 2 structs of settings: want one, or none", func() { memctx.New("x", memctx.Config{}, memctx.Config{}) })
	testkit.PanicText(t, "memctx: Child: 2 structs of settings: want one, or none", func() { server.TryChild("x", memctx.Config{}, memctx.Config{}) })
	testkit.PanicText(t, `memctx: New with an empty name: want the name of a kind of work, like "request"`, func() { memctx.New("") })
	testkit.PanicText(t, `memctx: Child of server with an empty name: want the name of a kind of work, like "request"`, func() { server.Child("") })
	testkit.PanicText(t, "memctx: OnReset(nil) of server", func() { server.OnReset(nil) })
	testkit.PanicText(t, "memctx: OnReset(nil)", func() { (*memctx.Context)(nil).OnReset(nil) })
	testkit.PanicText(t, "memctx: DumpOnSignal(nil): want a signal, like syscall.SIGUSR1", func() { memctx.DumpOnSignal(nil) })
	if s := server.Stats(); s.Contexts != 1 {
		t.Errorf("%v", s)
	}
	// What fits just so is right.
	server.Child("x", memctx.Config{Limit: 10, Reserve: 10, MaxAge: 0, Ident: ""}).Delete()
	server.Child("x", memctx.Config{Limit: 0, Reserve: 0}).Delete()
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

// An arena belongs to its context from the first call of Arena to the end, whatever
// state the context is in: who frees it, or puts it into a pool, is told whose it is,
// and nothing has changed.
func TestArenaIsTheContexts(t *testing.T) {
	var other arena.Pool
	take := map[string]func(*arena.Arena){"Free": (*arena.Arena).Free, "Pool.Put": other.Put}
	refused := func(op string, a *arena.Arena) {
		t.Helper()
		text := "arena: " + op + ` of arena "taken", which belongs to memory context server/taken[1] and ends with it`
		testkit.PanicText(t, text, func() { take[op](a) })
	}
	for op := range take {
		for state, become := range map[string]func(c *memctx.Context){
			"live":      func(*memctx.Context) {},
			"reset":     (*memctx.Context).Reset,
			"abandoned": (*memctx.Context).Abandon,
			"ended":     func(c *memctx.Context) { c.Retain(); c.Delete() },
			"above":     func(c *memctx.Context) { c.Retain(); c.Parent().Delete() },
		} {
			server := memctx.New("server", memctx.Config{Limit: 1 << 20})
			c := server.Child("taken", memctx.Config{Ident: "1"})
			a := c.Arena()
			v := arena.NewFrom(a, 7)
			var ran []string
			c.OnReset(func() {
				ran = append(ran, "context")
				refused(op, c.Arena())
			})
			a.OnReset(func() { // when it ends the arena is nobody's, and at work
				ran = append(ran, "arena")
				testkit.Panic(t, func() { take[op](a) })
			})
			become(c)
			refused(op, a)
			if s := other.Stats(); s.Puts != 0 {
				t.Errorf("%s of %s: %v", op, state, s)
			}
			if state != "reset" && *v != 7 || memctx.ArenaOf(c) != a || memctx.Taken(server) != a.Stats().Reserved {
				t.Errorf("%s of %s: value %d, %d bytes are taken", op, state, *v, memctx.Taken(server))
			}
			*arena.New[int](a) = 8
			checkAll(t, server, c)
			switch state {
			case "ended", "above":
				c.Release()
			default:
				c.Delete()
			}
			if memctx.StateOf(c) != "gone" || !slices.Equal(ran, []string{"context", "arena"}) || memctx.Taken(server) != 0 {
				t.Errorf("%s of %s: it is %s, callbacks %q, %d bytes are taken", op, state, memctx.StateOf(c), ran, memctx.Taken(server))
			}
			if state != "above" {
				server.Delete()
			}
			checkAll(t, server, c)
		}
	}
}

// What is taken back in the arena itself is taken back: a lease holds against what
// ends the context, and against its Reset.
func TestArenaResetByHand(t *testing.T) {
	testkit.NeedsReuse(t)
	type own [2]int // two fit a first chunk, whatever other tests needed
	c := memctx.New("reset by hand")
	defer c.Delete()
	c.Retain()
	defer c.Release()
	p := arena.NewFrom(c.Arena(), own{1})
	m := c.Arena().Mark()
	q := arena.NewFrom(c.Arena(), own{2})
	c.Arena().Release(m)
	if r := arena.New[own](c.Arena()); r != q || p[0] != 1 {
		t.Errorf("Release did not take back what came after the Mark, and that alone")
	}
	c.Arena().Reset()
	if r := arena.New[own](c.Arena()); r != p || *r != (own{}) {
		t.Errorf("Reset did not take back what was there")
	}
	*p = own{3}
	c.Reset()
	if r := arena.New[own](c.Arena()); r == p || p[0] != 3 {
		t.Errorf("Reset of the context took back what a lease holds")
	}
	checkAll(t, c)
}

// So an arena never has two owners: who held on to it over the context's end, and
// gives it away then, does not get what the next context of the name has.
func TestArenaHasOneOwner(t *testing.T) {
	var other arena.Pool
	server := memctx.New("server")
	defer server.Delete()
	first := server.Child("owner")
	a := first.Arena()
	first.Delete()
	for op, take := range map[string]func(){"Free": a.Free, "Pool.Put": func() { other.Put(a) }} {
		testkit.PanicText(t, "arena: "+op+` on arena "owner" after Put into its Pool`, take)
		next := server.Child("owner")
		if next.Arena() != a {
			t.Fatal("the next context has another arena")
		}
		testkit.PanicText(t, "arena: "+op+` of arena "owner", which belongs to memory context server/owner and ends with it`, take)
		if b := other.Get(); b == next.Arena() {
			t.Error("an arena has two owners")
		}
		next.Delete()
	}
	checkAll(t, server, first)
}
