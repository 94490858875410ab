package memctx_test

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A whole program at once: requests come and go below connections that move and end
// under them, while others look at everything.
func TestConcurrent(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	const limit = 1 << 26 // nobody comes near it
	server := memctx.New("server", memctx.Config{Limit: limit})
	standby := server.Child("standby", memctx.Config{Limit: limit / 2})
	var callbacks, ran, left atomic.Int64
	var work, watch sync.WaitGroup
	var done atomic.Bool

	// Requests. The one who serves a connection leases each request before it is
	// served, so its end and the connection's may come in any order.
	serve := func(request, query *memctx.Context, n int) {
		defer request.Release()
		defer func() {
			if n%29 == 0 {
				left.Add(1)
				request.Abandon()
			} else {
				request.Delete()
			}
		}()
		p := arena.NewFrom(request.Arena(), n)
		for k := range 20 {
			s, err := arena.TryMakeSlice[int](request.Arena(), 10+k*n%500, 10+k*n%500)
			if err != nil {
				if !isLimit(err) {
					t.Error(err)
				}
				break
			}
			s[0] = n
		}
		q := arena.NewFrom(query.Arena(), n)
		runtime.Gosched()
		if *p != n || *q != n {
			t.Error("memory was taken back under a lease")
		}
	}
	for w := range 3 {
		work.Add(1)
		go func() {
			defer work.Done()
			for i := range rounds {
				conn := server.Child("conn", memctx.Config{Ident: fmt.Sprint(w)})
				callbacks.Add(1)
				conn.OnReset(func() { ran.Add(1) })
				arena.New[int](conn.Arena())
				var requests sync.WaitGroup
				for k := range 4 {
					request := conn.Child("request", memctx.Config{Ident: fmt.Sprint(k)})
					callbacks.Add(1)
					request.OnReset(func() { ran.Add(1) })
					request.Retain()
					query := request.Child("query")
					query.Retain() // for long: it holds its request
					requests.Add(1)
					go func() {
						defer requests.Done()
						serve(request, query, i*4+k)
					}()
				}
				if err := conn.SetParent(standby); err != nil && !isLimit(err) {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := conn.SetParent(nil); err != nil {
						t.Error(err)
					}
				}
				if i%3 == 0 {
					requests.Wait()
				}
				conn.Delete()
				requests.Wait()
				if s := memctx.StateOf(conn); s != "ended" && s != "gone" {
					t.Errorf("the connection is %s", s)
				}
				// Now that nobody else is at it, the queries' leases are given back.
				for conn.Stats().Contexts > 1 {
					var query *memctx.Context
					conn.Walk(func(c *memctx.Context, _ int) bool {
						if c.Name() == "query" {
							query = c
						}
						return true
					})
					if query == nil {
						t.Errorf("only %v holds it", conn)
						break
					}
					if memctx.StateOf(query) == "live" {
						query.Delete()
					}
					query.Release()
				}
				if s := memctx.StateOf(conn); s != "gone" {
					t.Errorf("the connection is %s", s)
				}
			}
		}()
	}

	// Those who look.
	look := func(f func()) {
		watch.Add(1)
		go func() {
			defer watch.Done()
			for !done.Load() {
				f()
				runtime.Gosched()
			}
		}()
	}
	look(func() {
		if n := memctx.Taken(server); n < 0 || n > limit {
			t.Errorf("the server counts %d bytes", n)
		}
		if s := server.Stats(); s.Contexts < 2 || s.Total.Bytes < 0 || s.Name != "server" || s.String() == "" {
			t.Errorf("%v", s)
		}
	})
	look(func() {
		for c := range memctx.Roots() {
			c.Walk(func(c *memctx.Context, depth int) bool {
				if c.Path() == "" || c.Parent() == nil && depth > 20 {
					t.Errorf("%q at depth %d", c.Path(), depth)
				}
				return true
			})
		}
	})
	look(func() {
		if err := memctx.WriteReport(io.Discard, memctx.ReportOptions{JSON: true}); err != nil {
			t.Error(err)
		}
		if err := memctx.WriteReport(io.Discard, memctx.ReportOptions{Of: standby}); err != nil {
			t.Error(err)
		}
	})
	look(func() {
		for _, r := range memctx.TakeSnapshot().Contexts {
			if r.Name == "" || r.Own.Bytes < 0 {
				t.Errorf("%+v", r)
			}
		}
		check.Leaks()
		for range memctx.Names() {
		}
		runtime.GC()
	})
	work.Wait()
	done.Store(true)
	watch.Wait()
	if s := server.Stats(); s.Contexts != 2 {
		t.Errorf("%v", s)
	}
	if lost := callbacks.Load() - ran.Load(); lost < 0 || lost > left.Load() {
		t.Errorf("of %d callbacks %d ran, and %d contexts were abandoned", callbacks.Load(), ran.Load(), left.Load())
	}
	testkit.Eventually(t, "what abandoned contexts had is given back", func() bool { return memctx.Taken(server) == 0 })
	checkAll(t, server)
	server.Delete()
	checkNames(t, "server", "standby", "conn", "request", "query")
}
