package memctx_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// An abandoned context is out of the tree with all below it, and works on.
func TestAbandon(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	request := server.Child("request", memctx.Config{Ident: "1"})
	query := request.Child("query")
	var ran []string
	for _, c := range []*memctx.Context{request, query} {
		c.OnReset(func() { ran = append(ran, c.Name()) })
	}
	p, q := arena.NewFrom(request.Arena(), 1), arena.NewFrom(query.Arena(), 2)
	request.Abandon()
	request.Abandon() // does nothing
	if s := server.Stats(); s.Contexts != 1 || s.Children != 0 || s.Total.Bytes != 0 {
		t.Errorf("%v", s)
	}
	if request.Path() != "server/request[1]" || query.Path() != "server/request[1]/query" {
		t.Errorf("paths %s and %s", request.Path(), query.Path())
	}
	if s := request.Stats(); s.Contexts != 2 || s.Deleted {
		t.Errorf("%v", s)
	}
	// The handler goes on.
	later := query.Child("later")
	r := arena.NewFrom(later.Arena(), 3)
	later.OnReset(func() { ran = append(ran, "later") })
	query.OnReset(func() { ran = append(ran, "query again") })
	arena.New[int](request.Arena())
	request.Retain()
	request.Release()
	gone := request.Child("gone")
	s := arena.NewFrom(gone.Arena(), 4)
	gone.Delete()
	query.Reset()
	if want := []string{"later", "query again", "query"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	for range 10 {
		for _, c := range []*memctx.Context{request, query} {
			arena.NewFrom(c.Arena(), 9)
		}
		query.Reset()
		request.ResetChildren()
	}
	if *p != 1 || *q != 2 || *r != 3 || *s != 4 {
		t.Errorf("values are %d, %d, %d, %d", *p, *q, *r, *s)
	}
	checkAll(t, server, request, query, later, gone)
	ran = nil
	server.Reset() // has nothing to do with it
	request.Delete()
	if want := []string{"request"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	testkit.PanicText(t, "memctx: Delete of the deleted context server/request[1]", request.Delete)
	testkit.PanicText(t, "memctx: Abandon of the deleted context server/request[1]", request.Abandon)
	testkit.PanicText(t, "memctx: Abandon of the deleted context server/request[1]/query", query.Abandon)
	if *p != 1 || *q != 2 || *r != 3 || *s != 4 {
		t.Errorf("values are %d, %d, %d, %d", *p, *q, *r, *s)
	}
	checkAll(t, server, request, query, later, gone)
	checkNames(t, "server", "request", "query", "later", "gone")
	if n := namesOf(t, "request"); n.Live != 0 || n.HighWater == 0 {
		t.Errorf("%v", n)
	}
}

// No arena of an abandoned context is ever handed out again, whatever becomes of
// the context.
func TestAbandonedIsNeverReused(t *testing.T) {
	type pattern [20]uint64
	root := memctx.New("root")
	defer root.Delete()
	old := map[*arena.Arena]bool{}
	var values []*pattern
	for i := range 50 {
		c := root.Child("reused")
		b := c.Child("reused")
		for _, x := range []*memctx.Context{c, b} {
			if a := x.Arena(); old[a] {
				t.Fatal("a context got the arena of one that was abandoned")
			} else {
				old[a] = true
			}
			values = append(values, arena.NewFrom(x.Arena(), pattern{7, 19: 7}))
		}
		c.Abandon()
		d := b.Child("reused")
		if old[d.Arena()] {
			t.Fatal("a context got the arena of one that was abandoned")
		}
		old[d.Arena()] = true
		values = append(values, arena.NewFrom(d.Arena(), pattern{7, 19: 7}))
		switch i % 4 {
		case 0:
			c.Delete()
		case 1:
			d.Delete()
			b.Delete()
		case 2:
			b.Retain()
			c.Delete()
			b.Release()
		}
	}
	for range 200 {
		c := root.Child("reused")
		if old[c.Arena()] {
			t.Fatal("a context got the arena of one that was abandoned")
		}
		*arena.New[pattern](c.Arena()) = pattern{1}
	}
	for i, v := range values {
		if *v != (pattern{7, 19: 7}) {
			t.Fatalf("value %d is %v", i, *v)
		}
	}
	checkNames(t, "reused")
}

// A deleted context that waits for the abandoned one alone ends.
func TestAbandonOfTheLast(t *testing.T) {
	var ran []string
	server := memctx.New("server")
	conn := server.Child("conn")
	request := conn.Child("request")
	for _, c := range []*memctx.Context{server, conn, request} {
		c.OnReset(func() { ran = append(ran, c.Name()) })
	}
	request.Retain()
	server.Delete()
	request.Abandon()
	if want := []string{"conn", "server"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if memctx.StateOf(request) != "abandoned" {
		t.Errorf("it is %s", memctx.StateOf(request))
	}
	request.Release() // ends nothing
	arena.New[int](request.Arena())
	request.Retain()
	request.Delete()
	request.Abandon() // once more: the last word is that it is left alone
	request.Release()
	if want := []string{"conn", "server"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	checkAll(t, server, conn, request)
	checkNames(t, "server", "conn", "request")
}

// What was deleted before and is held by a lease ends with that, in an abandoned
// tree as elsewhere, and is not used again.
func TestAbandonAboveHeld(t *testing.T) {
	root := memctx.New("root")
	defer root.Delete()
	conn := root.Child("conn")
	held := conn.Child("held")
	p := arena.NewFrom(held.Arena(), 5)
	a := held.Arena()
	ran := 0
	held.OnReset(func() { ran++ })
	held.Retain()
	held.Delete()
	conn.Abandon()
	if ran != 0 {
		t.Error("ended in spite of the lease")
	}
	held.Release()
	if ran != 1 || memctx.StateOf(held) != "gone" {
		t.Errorf("%d callbacks ran; it is %s", ran, memctx.StateOf(held))
	}
	for range 5 {
		c := root.Child("held")
		if c.Arena() == a {
			t.Error("the arena is used again")
		}
		*arena.New[int](c.Arena()) = 1
	}
	if *p != 5 {
		t.Errorf("value is %d", *p)
	}
	checkAll(t, root, conn, held)
	checkNames(t, "root", "conn", "held")
}

// leave abandons a context with contexts below it, of which some have ledgers of
// their own, and returns the arenas.
func leave(parent *memctx.Context) (arenas []*arena.Arena, top *memctx.Context) {
	top = parent.Child("left")
	list := []*memctx.Context{top, top.Child("left"), top.Child("left", memctx.Config{Limit: 1 << 16}), top.Child("left", memctx.Config{Reserve: 5000})}
	list = append(list, list[1].Child("left"), list[2].Child("left"), list[3].Child("left"))
	for _, c := range list {
		arenas = append(arenas, c.Arena())
		arena.New[[300]byte](c.Arena())
	}
	top.Abandon()
	for _, c := range list { // what the handler does from then on
		arenas = append(arenas, c.Child("left").Arena(), c.Child("left", memctx.Config{Reserve: 700}).Arena(), c.Child("left", memctx.Config{Limit: 1 << 15}).Arena())
	}
	for _, a := range arenas {
		arena.New[[500]byte](a)
	}
	list[4].Delete()
	list[5].Arena().Reset()
	arenas[6].Trim(0)
	return arenas, top
}

// What abandoned contexts have of the limits above stays taken until the garbage
// collector finds that nothing refers to them, and is then given back exactly.
func TestAbandonedCharges(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 1 << 30})
	defer server.Delete()
	conn := server.Child("conn", memctx.Config{Reserve: 10_000})
	arena.New[int](conn.Arena())
	alone := memctx.Taken(server)
	own := memctx.Taken(conn)
	func() {
		arenas, top := leave(conn.Child("between"))
		taken := memctx.Taken(conn)
		if taken < own+len(arenas)*300 {
			t.Errorf("%d bytes are taken, less than the arenas have", taken)
		}
		testkit.CollectGarbage()
		if n := memctx.Taken(conn); n != taken || memctx.Taken(server) != max(taken, 10_000) {
			t.Errorf("%d bytes were given back while the contexts are used", taken-n)
		}
		checkAll(t, server, top)
		var contexts testkit.Census
		top.Walk(func(c *memctx.Context, _ int) bool {
			testkit.Enroll(&contexts, memctx.NodeOf(c))
			return true
		})
		top = nil
		// An arena is enough, of any of them. What is below the one whose arena it is
		// does not go before it does either.
		arenas = []*arena.Arena{arenas[0]}
		for range 3 {
			testkit.CollectGarbage()
		}
		if n := memctx.Taken(conn); n != taken {
			t.Errorf("%d bytes were given back while an arena is used", taken-n)
		}
		arena.New[[2000]byte](arenas[0])
		if n := memctx.Taken(conn); n < taken+2000 {
			t.Errorf("%d bytes are taken, want what the arena took since", n)
		}
		runtime.KeepAlive(arenas)
		if n := contexts.Alive(); n != contexts.Len() {
			t.Errorf("%d of %d contexts are alive", n, contexts.Len())
		}
	}()
	testkit.Eventually(t, "what abandoned contexts had is given back", func() bool {
		return memctx.Taken(conn) == own && memctx.Taken(server) == alone
	})
	checkAll(t, server)
	checkNames(t, "left", "conn", "server", "between")

	// The same where the context that was charged ended in the meantime: what is
	// above it is charged on.
	func() {
		arenas, _ := leave(conn)
		conn.Delete()
		if n := memctx.Taken(server); n == 0 {
			t.Error("the charges went with the parent")
		}
		runtime.KeepAlive(arenas)
	}()
	testkit.Eventually(t, "what abandoned contexts had is given back", func() bool { return memctx.Taken(server) == 0 })
	checkAll(t, server)
}

// Deleting it gives all back at once, and exactly.
func TestAbandonedAndDeleted(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 1 << 30})
	defer server.Delete()
	_, top := leave(server)
	top.Delete()
	if n := memctx.Taken(server); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
	checkAll(t, server, top)
	top = nil
	for range 3 {
		testkit.CollectGarbage()
	}
	if n := memctx.Taken(server); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
	checkAll(t, server)
}

// The limits above hold for what an abandoned context takes.
func TestAbandonedLimit(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 20_000})
	defer server.Delete()
	request := server.Child("request")
	request.Abandon()
	below := request.Child("below", memctx.Config{Limit: 15_000})
	if _, err := arena.TryMakeSlice[byte](below.Arena(), 14_000, 14_000); err != nil {
		t.Error(err)
	}
	for _, c := range []*memctx.Context{below, request, server.Child("other")} {
		if _, err := arena.TryMakeSlice[byte](c.Arena(), 10_000, 10_000); !isLimit(err) {
			t.Errorf("%s: error %v", c.Path(), err)
		}
	}
	checkAll(t, server, request)
	request.Delete()
	if _, err := arena.TryMakeSlice[byte](server.Arena(), 19_000, 19_000); err != nil {
		t.Error(err)
	}
}

// Abandon is for those who do not know what others do: any goroutine may call it
// while the owner uses the context and those below it, and deletes them.
func TestAbandonConcurrent(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	var servers []*memctx.Context
	for i := range rounds {
		server := memctx.New("server", memctx.Config{Limit: 1 << 30})
		servers = append(servers, server)
		request := server.Child("request")
		var all []*memctx.Context
		ran := map[*memctx.Context]int{}
		start := make(chan bool)
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			close(start)
			for range 10 {
				query := request.Child("query")
				sub := query.Child("sub")
				all = append(all, query, sub)
				for _, c := range []*memctx.Context{query, sub, request} {
					v := arena.NewFrom(c.Arena(), 3)
					c.OnReset(func() {
						if ran[c]++; *v != 3 {
							t.Error("memory was taken back before the callbacks ran")
						}
					})
				}
				switch i % 3 {
				case 0:
					sub.Delete()
				case 1:
					query.Reset()
				}
				query.Delete()
			}
			request.Reset()
			arena.New[int](request.Arena())
		}()
		<-start
		request.Abandon()
		wg.Wait()
		for _, c := range all {
			if memctx.StateOf(c) != "gone" || ran[c] != 1 {
				t.Fatalf("%s is %s, %d of its callbacks ran", c.Path(), memctx.StateOf(c), ran[c])
			}
		}
		if ran[request] != 10 || memctx.StateOf(request) != "abandoned" {
			t.Fatalf("the context is %s, %d callbacks ran", memctx.StateOf(request), ran[request])
		}
		checkAll(t, append(all, server, request)...)
		if i%2 == 0 {
			request.Delete()
		}
		if n := memctx.Taken(server); i%2 == 0 && n != 0 || i%2 == 1 && n == 0 {
			t.Errorf("the server counts %d bytes", n)
		}
		server.Delete()
	}
	checkNames(t, "server", "request", "query", "sub")
	testkit.Eventually(t, "what abandoned contexts had is given back", func() bool {
		return !slices.ContainsFunc(servers, func(s *memctx.Context) bool { return memctx.Taken(s) != 0 })
	})
}

// It meets the Delete of the context, or of the one above, in any order: the
// callbacks run once, now or when it is deleted after all, and what is above ends.
func TestAbandonMeetsDelete(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	for i := range rounds {
		server := memctx.New("server", memctx.Config{Limit: 1 << 20})
		conn := server.Child("conn")
		request := conn.Child("request")
		var ran, above int
		request.OnReset(func() { ran++ })
		conn.OnReset(func() { above++ })
		p := arena.NewFrom(request.Arena(), i)
		if i%2 == 0 {
			arena.NewFrom(request.Child("query").Arena(), i)
		}
		request.Retain()
		done := make(chan bool)
		go func() {
			defer close(done)
			request.Abandon()
			request.Release()
		}()
		if i%3 == 0 {
			request.Delete()
		} else {
			conn.Delete()
		}
		<-done
		s := memctx.StateOf(request)
		if s == "gone" && ran != 1 || s == "abandoned" && ran != 0 || s != "gone" && s != "abandoned" {
			t.Fatalf("it is %s, %d callbacks ran", s, ran)
		}
		if i%3 == 0 {
			conn.Delete()
		}
		if above != 1 || memctx.StateOf(conn) != "gone" {
			t.Fatalf("what is above is %s, %d of its callbacks ran", memctx.StateOf(conn), above)
		}
		if s == "abandoned" {
			for range 3 { // nobody gets its memory
				c := server.Child("request")
				*arena.New[int](c.Arena()) = -1
				c.Delete()
			}
			if *p != i {
				t.Fatalf("value is %d, want %d", *p, i)
			}
		}
		checkAll(t, server, conn, request)
		if s == "abandoned" && i%4 < 2 {
			if request.Delete(); ran != 1 {
				t.Fatalf("%d callbacks ran", ran)
			}
		}
		server.Delete()
		checkAll(t, server, conn, request)
	}
	checkNames(t, "server", "conn", "request", "query")
}

// It goes through what is below while that is deleted one by one: each still runs
// its callbacks, and is gone.
func TestAbandonMeetsDeletes(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		request := memctx.New("request")
		leaves := make([]*memctx.Context, 300)
		ran := 0
		for i := range leaves {
			leaves[i] = request.Child("query")
			leaves[i].OnReset(func() { ran++ })
		}
		start, done := make(chan bool), make(chan bool)
		go func() {
			defer close(done)
			close(start)
			for _, c := range leaves {
				c.Delete()
			}
		}()
		<-start
		request.Abandon()
		<-done
		if ran != len(leaves) {
			t.Errorf("%d callbacks of %d ran", ran, len(leaves))
		}
		for _, c := range leaves {
			if s := memctx.StateOf(c); s != "gone" {
				t.Fatalf("%s is %s", c.Path(), s)
			}
		}
		checkAll(t, append(leaves, request)...)
	}
	checkNames(t, "request", "query")
}
