package request_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/request"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

var root = request.Root{Name: "root"}

// serve opens and ends a context for what ctx belongs to, and returns its path.
func serve(ctx context.Context, parent *memctx.Context, sure bool) string {
	p := request.Find(ctx, parent, &root)
	mc := p.Open("request", memctx.Config{})
	defer p.End(mc, sure)
	return mc.Path()
}

func TestFind(t *testing.T) {
	bg, given, other := context.Background(), memctx.New("given"), memctx.New("other")
	conn := request.OpenConn(request.Find(bg, given, &root), memctx.Config{Ident: "1"})
	ended := request.OpenConn(request.Find(bg, given, &root), memctx.Config{Ident: "2"})
	ended.Leave()
	for _, c := range []struct {
		what   string
		ctx    context.Context
		parent *memctx.Context
		want   string
	}{
		{"nothing", bg, nil, "root/request"},
		{"a parent", bg, given, "given/request"},
		{"a context", memctx.With(bg, other), given, "other/request"},
		{"a connection", conn.Context(bg), nil, "given/conn[1]/request"},
		{"a context below a connection", memctx.With(conn.Context(bg), other), nil, "other/request"},
		{"none below a connection", memctx.With(conn.Context(bg), nil), nil, "root/request"},
		{"a connection that has ended", ended.Context(bg), other, "other/request"},
		{"a context below one that has ended", memctx.With(ended.Context(bg), other), given, "other/request"},
	} {
		if got := serve(c.ctx, c.parent, true); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	conn.Leave()
	given.Delete()
	testkit.PanicText(t, `memctx: Child("request") of the deleted context given`, func() { serve(bg, given, true) })
	other.Delete()
	check.VerifyNone(t)
}

// TestConnEnds checks who is the last user of a connection, and how it ends.
func TestConnEnds(t *testing.T) {
	stats := func() memctx.NameStats {
		for s := range memctx.Names() {
			if s.Name == "conn" {
				return s
			}
		}
		return memctx.NameStats{}
	}
	for _, c := range []struct {
		sure, doubt bool
		abandoned   uint64
	}{{true, false, 0}, {true, true, 1}, {false, false, 1}} {
		before := stats()
		conn := request.OpenConn(request.Find(context.Background(), nil, &root), memctx.Config{})
		ctx := conn.Context(context.Background())
		p := request.Find(ctx, nil, &root)
		mc := p.Open("request", memctx.Config{})
		if c.doubt {
			conn.Doubt()
		}
		conn.Leave()
		if got := serve(ctx, nil, true); got != "root/conn/request" {
			t.Errorf("a request while another holds the connection is %s", got)
		}
		p.End(mc, c.sure)
		after := stats()
		if n := after.Abandoned - before.Abandoned; after.Live != 0 || n != c.abandoned {
			t.Errorf("%+v: %d connections are open, %d were abandoned", c, after.Live, n)
		}
	}
	check.VerifyNone(t)
}

// TestParentEndsFirst has a parent deleted while a request and its connection are
// open: their memory stays until they end, in whatever way and order, and each
// callback runs once.
func TestParentEndsFirst(t *testing.T) {
	for n := range 1 << 4 {
		leased, sure, doubt, connFirst := n&1 > 0, n&2 > 0, n&4 > 0, n&8 > 0
		parent := memctx.New("parent")
		conn := request.OpenConn(request.Find(context.Background(), parent, &root), memctx.Config{})
		p := request.Find(conn.Context(context.Background()), nil, &root)
		mc := p.Open("request", memctx.Config{})
		ended := 0
		mc.OnReset(func() { ended++ })
		bytes := arena.MakeSlice[byte](mc.Arena(), 5000, 5000)
		fill := func(b []byte, with byte) {
			for i := range b {
				b[i] = with
			}
		}
		fill(bytes, 'a')
		parent.Delete()
		other := memctx.New("request") // gets what there is of the kind
		fill(arena.MakeSlice[byte](other.Arena(), 5000, 5000), 'x')
		other.Delete()
		fill(arena.MakeSlice[byte](mc.Arena(), 5000, 5000), 'b')
		for _, b := range bytes {
			if b != 'a' || ended != 0 {
				t.Fatalf("case %04b: the memory of an open request is %q, %d callbacks ran", n, b, ended)
			}
		}
		var release func()
		if leased {
			release = mc.Retain()
		}
		if doubt {
			conn.Doubt()
		}
		if connFirst {
			conn.Leave()
		}
		p.End(mc, sure)
		if !connFirst {
			conn.Leave()
		}
		if want := sure && !leased; (ended > 0) != want {
			t.Errorf("case %04b: the callback ran: %v, want %v", n, ended > 0, want)
		}
		if leased {
			arena.New[int](mc.Arena())
			release()
		}
		if !sure { // abandoned: only now the callback runs
			mc.Delete()
		}
		if ended != 1 {
			t.Errorf("case %04b: the callback ran %d times", n, ended)
		}
		check.VerifyNone(t)
	}
}

// TestConnFromAnywhere has requests come while their connection ends.
func TestConnFromAnywhere(t *testing.T) {
	for range 200 {
		conn := request.OpenConn(request.Find(context.Background(), nil, &root), memctx.Config{})
		ctx := conn.Context(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 5 {
					serve(ctx, nil, true)
				}
			}()
		}
		conn.Leave()
		wg.Wait()
	}
	check.VerifyNone(t)
}

// TestAbove checks whose a limit is, and that a limit above starts a collection
// where an abandoned context is, and else none.
func TestAbove(t *testing.T) {
	cycles := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	limited := memctx.New("limited", memctx.Config{Limit: 64 << 10})
	mc := limited.Child("request")
	defer limited.Delete()
	exceed := func(mc *memctx.Context) *arena.LimitError {
		_, err := arena.TryMakeSlice[byte](mc.Arena(), 1<<20, 1<<20)
		return err.(*arena.LimitError)
	}
	serve(context.Background(), nil, false)
	before := cycles()
	for range 100 {
		own := mc.Child("own", memctx.Config{Limit: 1000})
		if request.Above(exceed(own), own) || request.Above(exceed(limited), limited) {
			t.Fatal("a context's own limit is above it")
		}
		own.Delete()
	}
	if request.Collecting() || cycles() != before {
		t.Error("a context's own limit starts a collection")
	}
	if !request.Above(exceed(mc), mc) {
		t.Error("the parent's limit is not above")
	}
	for deadline := time.Now().Add(20 * time.Second); cycles() == before || request.Collecting(); {
		if time.Now().After(deadline) {
			t.Fatal("no garbage collection in 20 s")
		}
		time.Sleep(time.Millisecond)
	}
	before = cycles()
	for range 100 {
		request.Above(exceed(mc), mc)
	}
	if request.Collecting() || cycles() != before {
		t.Error("a collection without anything to find")
	}
}
