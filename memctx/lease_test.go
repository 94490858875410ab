package memctx_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// The memory of a deleted context, and of those above that were deleted with it,
// goes with the last lease; until then who has one works on.
func TestLease(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	conn := server.Child("conn", memctx.Config{Reserve: 1 << 16})
	request, idle := conn.Child("request"), conn.Child("idle")
	var ran []string
	for _, c := range []*memctx.Context{conn, request, idle} {
		arena.New[[1000]byte](c.Arena())
		c.OnReset(func() { ran = append(ran, c.Name()) })
	}
	p, q := arena.NewFrom(conn.Arena(), 1), arena.NewFrom(request.Arena(), 2)
	request.Retain()
	request.Retain()
	conn.Delete()
	if !slices.Equal(ran, []string{"idle"}) {
		t.Errorf("callbacks of %q ran", ran)
	}
	if s := request.Stats(); !s.Deleted || s.Leases != 2 || s.Own.Bytes == 0 || s.Path != "server/conn/request" {
		t.Errorf("%v", s)
	}
	if s := server.Stats(); s.Contexts != 3 || s.Children != 1 || s.Total.Bytes < 2000 {
		t.Errorf("%v", s)
	}
	if n := namesOf(t, "conn"); n.Held != 1 || n.Live != 1 {
		t.Errorf("%v", n)
	}
	if memctx.Taken(server) < 1<<16 {
		t.Error("what conn set aside was given back early")
	}
	checkAll(t, server)

	// The one above is deleted, and has no lease of its own.
	testkit.PanicText(t, "memctx: Arena of the deleted context server/conn", func() { conn.Arena() })
	testkit.PanicText(t, "memctx: Retain of the deleted context server/conn", func() { conn.Retain() })
	testkit.PanicText(t, "memctx: Delete of the deleted context server/conn", conn.Delete)
	testkit.PanicText(t, `memctx: Child("x") of the deleted context server/conn`, func() { conn.Child("x") })

	// Who has a lease uses the context as before, and makes contexts below it, which
	// hold it as well.
	for range 100 {
		arena.New[[100]int](request.Arena())
	}
	query := request.Child("query")
	arena.New[int](query.Arena())
	request.OnReset(func() { ran = append(ran, "late") })
	request.Delete() // does nothing
	request.Release()
	if *p != 1 || *q != 2 {
		t.Errorf("values are %d and %d", *p, *q)
	}
	request.Release()
	if !slices.Equal(ran, []string{"idle"}) || memctx.StateOf(request) != "ended" {
		t.Errorf("callbacks of %q ran before the child of the holder ended", ran)
	}
	testkit.PanicText(t, "memctx: Arena of the deleted context server/conn/request", func() { request.Arena() })
	checkAll(t, server)
	query.Delete()
	if want := []string{"idle", "late", "request", "conn"}; !slices.Equal(ran, want) {
		t.Errorf("callbacks of %q ran, want %q", ran, want)
	}
	if s := server.Stats(); s.Contexts != 1 || s.Total.Bytes != 0 || memctx.Taken(server) != 0 {
		t.Errorf("%v", s)
	}
	checkAll(t, server, conn, request, idle, query)
	checkNames(t, "server", "conn", "request", "idle", "query")
}

// With a lease at its start, and Delete and Release at its end, work ends well
// whether or not what is above ends before it.
func TestLeaseOfWork(t *testing.T) {
	for _, first := range []bool{false, true} {
		conn := memctx.New("conn")
		request := conn.Child("request")
		release := request.Retain()
		ran := 0
		request.OnReset(func() { ran++ })
		if first {
			conn.Delete()
		}
		request.Delete()
		if ran != 0 {
			t.Error("ended in spite of the lease")
		}
		for range 3 { // of which the first counts
			release()
		}
		if ran != 1 || memctx.StateOf(request) != "gone" {
			t.Errorf("%d callbacks ran; it is %s", ran, memctx.StateOf(request))
		}
		if !first {
			conn.Delete()
		}
		checkAll(t, conn, request)
	}
}

// A lease of a context that is not deleted changes nothing but Reset: it takes
// back nothing of what is there.
func TestResetOfHeld(t *testing.T) {
	type value [40]int
	conn := memctx.New("conn")
	defer conn.Delete()
	request := conn.Child("request")
	p, q := arena.NewFrom(conn.Arena(), value{1}), arena.NewFrom(request.Arena(), value{2})
	a := conn.Arena()
	request.Retain()
	conn.Reset()
	ran := 0
	for i := range 5 {
		for range 100 {
			arena.NewFrom(conn.Arena(), value{9})
			arena.NewFrom(request.Arena(), value{9})
		}
		request.OnReset(func() { ran++ })
		request.Reset()
		conn.Reset()
		if conn.Arena() != a || *p != (value{1}) || *q != (value{2}) {
			t.Fatalf("values are %d and %d", p[0], q[0])
		}
		if n := request.Stats().Resets; n != uint64(i+1) || ran != i+1 {
			t.Errorf("%d resets, %d callbacks", n, ran)
		}
		checkAll(t, conn)
	}
	request.Release()
	arena.NewFrom(conn.Arena(), value{9})
	// From here on memory is used again, and no more is taken.
	for range 3 {
		conn.Reset()
		if s := a.Stats(); s.InUse != 0 {
			t.Fatalf("what was allocated after a held Reset was not taken back: %v", s)
		}
		if v := arena.New[value](a); *v != (value{}) || v == p {
			t.Error("memory that was held is used again")
		}
	}
	if s := conn.Stats(); s.Own.Chunks != 1 {
		t.Errorf("%v", s)
	}
	if *p != (value{1}) || *q != (value{2}) {
		t.Errorf("values are %d and %d", p[0], q[0])
	}
}

// ResetChildren leaves alone what ended and is held, and what is above a held
// context keeps what was allocated.
func TestResetChildrenOfHeld(t *testing.T) {
	testkit.NeedsReuse(t)
	root := memctx.New("root")
	defer root.Delete()
	a, b := root.Child("a"), root.Child("b")
	a1, a2 := a.Child("a1"), a.Child("a2")
	all := []*memctx.Context{a, a1, a2, b}
	var values []*int
	for _, c := range all {
		values = append(values, arena.NewFrom(c.Arena(), 7))
	}
	a1.Retain()
	a2.Retain()
	a2.Delete()
	root.ResetChildren()
	for i, c := range all {
		want, resets := 7, uint64(1)
		if c == b {
			want = 0
		}
		if c == a2 {
			resets = 0
		}
		if *values[i] != want || c.Stats().Resets != resets {
			t.Errorf("%s was reset %d times and holds %d, want %d", c.Path(), c.Stats().Resets, *values[i], want)
		}
	}
	// A callback may take a lease: for what it starts.
	a1.Release()
	a2.Release()
	*arena.New[int](a.Arena()) = 1
	x := arena.NewFrom(a.Arena(), 8)
	y := arena.NewFrom(a1.Arena(), 8)
	a1.OnReset(func() {
		a1.Retain()
		panic("after it took a lease")
	})
	testkit.Panic(t, root.ResetChildren)
	arena.NewFrom(a.Arena(), 9)
	arena.NewFrom(a1.Arena(), 9)
	if *x != 8 || *y != 8 {
		t.Errorf("values are %d and %d", *x, *y)
	}
	a1.OnReset(func() { a1.Retain() })
	y = arena.NewFrom(a1.Arena(), 8)
	a1.Release()
	a1.Reset()
	arena.NewFrom(a1.Arena(), 9)
	if *y != 8 {
		t.Errorf("value is %d", *y)
	}
	a1.Release()
	checkAll(t, root, a, a1, a2, b)
}

// TestDeleteByHolder has the holder of a lease end a context, before the parent
// does or after it: both the context and the lease are gone then.
func TestDeleteByHolder(t *testing.T) {
	for _, late := range []bool{false, true} {
		parent := memctx.New("parent")
		c := parent.Child("held")
		ended := 0
		c.OnReset(func() { ended++ })
		if !scope.Retain(c) {
			t.Error("no lease of a live context")
		}
		if late {
			parent.Delete()
		}
		if ended != 0 {
			t.Error("a held context ended with its parent")
		}
		scope.Delete(c)
		if ended != 1 || scope.Retain(c) || memctx.StateOf(c) != "gone" {
			t.Errorf("late %v: %d callbacks ran, the context is %s", late, ended, memctx.StateOf(c))
		}
		if !late {
			parent.Delete()
		}
		check.VerifyNone(t)
	}
}

// Retain does not help a context that is at its end.
func TestRetainInCallback(t *testing.T) {
	c := memctx.New("late")
	c.OnReset(func() {
		testkit.PanicText(t, "memctx: Retain of the deleted context late", func() { c.Retain() })
		testkit.PanicText(t, `memctx: Child("x") of the deleted context late`, func() { c.Child("x") })
		testkit.PanicText(t, "memctx: SetParent of the deleted context late", func() { c.SetParent(nil) })
		c.Abandon() // changes nothing any more
	})
	c.Delete()
	checkAll(t, c)
	checkNames(t, "late")
}

// Leases are given back by any goroutine, in any order, while what is above is
// deleted: the callbacks run once, when nobody uses the memory any more.
func TestLeasesConcurrent(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		server := memctx.New("server")
		conn := server.Child("conn")
		request := conn.Child("request")
		values := arena.MakeSlice[atomic.Int64](request.Arena(), 100, 100)
		above := arena.NewFrom(conn.Arena(), 17)
		var users atomic.Int32
		var ran atomic.Int32
		for i, c := range []*memctx.Context{request, conn, server} {
			c.OnReset(func() {
				if ran.Add(1) != int32(i+1) || users.Load() != 0 {
					t.Errorf("callback of %s ran as number %d, with %d users", c.Name(), ran.Load(), users.Load())
				}
			})
		}
		var wg sync.WaitGroup
		deleted := make(chan bool)
		for k := range 8 {
			request.Retain()
			users.Add(1)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range values {
					values[i].Add(1)
				}
				request.Retain() // has a lease, so it may take another
				if k%2 == 0 {
					<-deleted // before that, what is below ends with what is above
					child := request.Child("query")
					if *arena.NewFrom(child.Arena(), 5) != 5 || *above != 17 {
						t.Error("memory was taken back")
					}
					child.Delete()
				}
				request.Release()
				users.Add(-1)
				request.Release()
			}()
		}
		server.Delete()
		close(deleted)
		wg.Wait()
		if n := ran.Load(); n != 3 {
			t.Fatalf("%d callbacks ran", n)
		}
		checkAll(t, server, conn, request)
	}
	checkNames(t, "server", "conn", "request", "query")
}

// TestReleaseOnce calls the functions of two leases many times, from many goroutines: each
// gives back its own lease, once. That of a nil context does nothing.
func TestReleaseOnce(t *testing.T) {
	for range 100 {
		c := memctx.New("once")
		first, second := c.Retain(), c.Retain()
		var ran atomic.Int64
		c.OnReset(func() { ran.Add(1) })
		c.Delete()
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				first()
				first()
			}()
		}
		wg.Wait()
		if ran.Load() != 0 || memctx.StateOf(c) != "ended" {
			t.Fatalf("one lease of two was given back, and it is %s", memctx.StateOf(c))
		}
		second()
		first()
		if ran.Load() != 1 || memctx.StateOf(c) != "gone" {
			t.Fatalf("%d callbacks ran; it is %s", ran.Load(), memctx.StateOf(c))
		}
	}
	(*memctx.Context)(nil).Retain()()
}
