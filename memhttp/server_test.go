package memhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// A server is one on the loopback interface, with a root of its own.
type server struct {
	*httptest.Server
	root *memctx.Context
}

// serve starts a wrapped server. When the test is over there must be no context
// left.
func serve(t *testing.T, h http.Handler, conf ...memhttp.Config) *server {
	return serveWith(t, h, func(ts *httptest.Server) { ts.Start() }, conf...)
}

func serveWith(t *testing.T, h http.Handler, start func(*httptest.Server), conf ...memhttp.Config) *server {
	t.Helper()
	s := &server{httptest.NewUnstartedServer(h), memctx.New("server")}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	var c memhttp.Config
	if len(conf) > 0 {
		c = conf[0]
	}
	c.Parent = s.root
	memhttp.Wrap(s.Config, c)
	start(s.Server)
	t.Cleanup(func() {
		s.Close()
		verifyNone(t, s.root)
	})
	return s
}

// verifyNone deletes a root when nothing is below it any more, and checks that no
// context is left. A connection ends a moment after its client.
func verifyNone(t *testing.T, root *memctx.Context) {
	t.Helper()
	testkit.Until(t, "the contexts of a server have ended", func() bool { return root.Stats().Contexts == 1 })
	root.Delete()
	check.VerifyNone(t)
}

// get returns the status and body of an answer.
func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	status, body, err := fetch(client, url)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func fetch(client *http.Client, url string) (int, string, error) {
	res, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// names returns the numbers of the contexts of a name, which differences are
// taken of.
func names(name string) memctx.NameStats {
	for s := range memctx.Names() {
		if s.Name == name {
			return s
		}
	}
	return memctx.NameStats{}
}

// A cell is what handlers of the tests make: a pointer shows that the garbage
// collector follows it, and an id whose it is.
type cell struct {
	id   uint64
	next *cell
}

// fill makes a list of n cells with an id.
func fill(a *arena.Arena, id uint64, n int) *cell {
	var list *cell
	for range n {
		list = arena.NewFrom(a, cell{id, list})
	}
	return list
}

// intact reports whether a list is what fill made.
func intact(list *cell, id uint64, n int) error {
	i := 0
	for c := list; c != nil; c = c.next {
		if c.id != id {
			return fmt.Errorf("cell %d of %d has id %d, want %d", i, n, c.id, id)
		}
		i++
	}
	if i != n {
		return fmt.Errorf("a list of %d cells has %d", n, i)
	}
	return nil
}

// churn uses warm memory: that of a request which has ended is the next one's.
func churn(t *testing.T, h http.Handler) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/churn", nil))
				if w.Code != http.StatusOK {
					t.Errorf("churn: %d %s", w.Code, w.Body)
				}
			}
		}()
	}
	wg.Wait()
}

// churner returns a handler for churn whose requests are below mc.
func churner(mc *memctx.Context) http.Handler {
	return memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 0xdead, 1000)
	}), memhttp.Config{Parent: mc})
}

// TestTree checks where the contexts are, and that a connection's lasts from its
// first request to its end.
func TestTree(t *testing.T) {
	paths := make(chan string, 8)
	var mu sync.Mutex
	conns := map[*memctx.Context]int{}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		mu.Lock()
		conns[mc.Parent()]++
		mu.Unlock()
		if got, want := mc.Path(), "server/conn["+r.RemoteAddr+"]/request["+r.URL.Path+"]"; got != want {
			t.Errorf("path is %s, want %s", got, want)
		}
		if r, c := mc.Stats(), mc.Parent().Stats(); r.Limit != 1000 || c.Limit != 2000 {
			t.Errorf("limits are %d and %d, want 1000 and 2000", r.Limit, c.Limit)
		}
		fill(mc.Arena(), 1, 3)
		paths <- mc.Name()
	}), memhttp.Config{RequestLimit: 1000, ConnLimit: 2000})
	for range 3 {
		get(t, s.Client(), s.URL+"/first")
		if name := <-paths; name != "request" {
			t.Errorf("name is %q", name)
		}
	}
	if len(conns) != 1 {
		t.Errorf("three requests of one connection had %d parents", len(conns))
	}
	if n := s.root.Stats().Contexts; n != 2 {
		t.Errorf("%d contexts between requests, want the root and the connection's", n)
	}
	s.Client().CloseIdleConnections()
	testkit.Until(t, "the connection's context has ended", func() bool { return s.root.Stats().Contexts == 1 })
	get(t, s.Client(), s.URL+"/second")
	if len(conns) != 2 {
		t.Errorf("requests of two connections had %d parents", len(conns))
	}
}

// TestMemoryIsUsedAgain checks that a request that went well gives its arena back.
func TestMemoryIsUsedAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each has warm arenas of its own
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 1, 100)
	}))
	get(t, s.Client(), s.URL)
	before := names("request")
	for range 20 {
		get(t, s.Client(), s.URL)
	}
	// The client has the answer a moment before the request's context ends.
	testkit.Until(t, "20 requests have ended", func() bool { return names("request").Deleted-before.Deleted >= 20 })
	after := names("request")
	if hits := after.Warm.Hits - before.Warm.Hits; hits < 19 {
		t.Errorf("%d of 20 requests found a warm arena", hits)
	}
	if n := after.Abandoned - before.Abandoned; n != 0 {
		t.Errorf("%d of 20 requests were abandoned", n)
	}
}

// TestHandlerAlone checks a Handler without Wrap, below each kind of parent.
func TestHandlerAlone(t *testing.T) {
	path := func(h func(http.Handler) http.Handler, ctx context.Context) (path string) {
		r := httptest.NewRequest("GET", "/x?secret=1", nil).WithContext(ctx)
		h(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = memctx.FromContext(r.Context()).Path()
		})).ServeHTTP(httptest.NewRecorder(), r)
		return path
	}
	with := func(conf ...memhttp.Config) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler { return memhttp.Handler(h, conf...) }
	}
	bg := context.Background()
	root := memctx.New("root")
	for _, c := range []struct {
		what, got, want string
	}{
		{"by default", path(with(), bg), "http/request[/x]"},
		{"with a nil parent", path(with(memhttp.Config{Parent: nil}), bg), "http/request[/x]"},
		{"with a parent", path(with(memhttp.Config{Parent: root}), bg), "root/request[/x]"},
		{"with one in the context", path(with(), memctx.With(bg, root)), "root/request[/x]"},
		{"with one hidden", path(with(), memctx.With(memctx.With(bg, root), nil)), "http/request[/x]"},
		{"twice", path(func(h http.Handler) http.Handler {
			return memhttp.Handler(memhttp.Handler(h), memhttp.Config{Parent: root})
		}, bg), "root/request[/x]/request[/x]"},
		{"inside of a mux", path(func(h http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("GET /{name}", memhttp.Handler(h, memhttp.Config{Parent: root}))
			return mux
		}, bg), "root/GET /{name}[/x]"},
		{"around a mux", path(func(h http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("GET /{name}", h)
			return memhttp.Handler(mux, memhttp.Config{Parent: root})
		}, bg), "root/GET /{name}[/x]"},
		{"with a route", path(with(memhttp.Config{Route: func(r *http.Request) string { return r.Method + " it" }, Parent: root}), bg), "root/GET it[/x]"},
		{"with no route", path(with(memhttp.Config{Route: func(r *http.Request) string { return "" }, Parent: root}), bg), "root/request[/x]"},
		{"with an ident", path(with(memhttp.Config{Ident: func(r *http.Request) string { return r.Method }, Parent: root}), bg), "root/request[GET]"},
		{"without an ident", path(with(memhttp.Config{Ident: func(*http.Request) string { return "" }, Parent: root}), bg), "root/request"},
		{"with a zero Config", path(with(memhttp.Config{}), bg), "http/request[/x]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	verifyNone(t, root)
}

// TestLongPath checks that a client does not choose how much a request keeps.
func TestLongPath(t *testing.T) {
	var ident string
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ident = memctx.FromContext(r.Context()).Ident()
	}))
	for _, c := range []struct{ path, want string }{
		{"/" + strings.Repeat("x", 63), "/" + strings.Repeat("x", 63)},
		{"/" + strings.Repeat("x", 64), "/" + strings.Repeat("x", 63)},
		{"/" + strings.Repeat("x", 61) + "ä€€", "/" + strings.Repeat("x", 61) + "ä"},
		{"/" + strings.Repeat("x", 62) + "€", "/" + strings.Repeat("x", 62)},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = c.path
		h.ServeHTTP(httptest.NewRecorder(), r)
		if ident != c.want {
			t.Errorf("%q has ident %q, want %q", c.path, ident, c.want)
		}
	}
	check.VerifyNone(t)
}

// TestSharedRoot has requests come and go below the root that nobody gave.
func TestSharedRoot(t *testing.T) {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		fill(mc.Arena(), 1, 10)
		if got := mc.Parent().Path(); got != "http" {
			t.Errorf("parent is %s", got)
		}
		runtime.Gosched()
	}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			}
		}()
	}
	wg.Wait()
	check.VerifyNone(t)
}

// TestHooks checks that Wrap keeps what the server had.
func TestHooks(t *testing.T) {
	type key struct{}
	states := make(chan http.ConnState, 16)
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Context().Value(key{}), memctx.FromContext(r.Context()).Parent().Name())
	}))
	ts.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, key{}, "value ")
	}
	ts.Config.ConnState = func(_ net.Conn, s http.ConnState) { states <- s }
	memhttp.Wrap(ts.Config)
	ts.Start()
	if _, body := get(t, ts.Client(), ts.URL); body != "value conn" {
		t.Errorf("body is %q", body)
	}
	ts.Close()
	check.VerifyNone(t)
	close(states)
	var got []http.ConnState
	for s := range states {
		got = append(got, s)
	}
	if len(got) < 3 || got[0] != http.StateNew || got[len(got)-1] != http.StateClosed {
		t.Errorf("states: %v", got)
	}
}

// TestDeleteAfterShutdown deletes the parent as soon as Shutdown has returned, when
// net/http has yet to report the end of an idle connection.
func TestDeleteAfterShutdown(t *testing.T) {
	closed := make(chan struct{}, 1)
	root := memctx.New("server")
	srv := &http.Server{Handler: http.NotFoundHandler(), ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			runtime.Gosched()
			closed <- struct{}{}
		}
	}}
	memhttp.Wrap(srv, memhttp.Config{Parent: root})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(listener)
	client := &http.Client{Transport: &http.Transport{}}
	get(t, client, "http://"+listener.Addr().String())
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	root.Delete()
	check.VerifyNone(t)
	testkit.Receive(t, "the connection is closed", closed)
}

// TestDeleteUnderHandler deletes the parent while a handler runs, as a program does
// whose Shutdown has run out of time: the handler's memory stays until its answer is
// written.
func TestDeleteUnderHandler(t *testing.T) {
	filled, goOn := make(chan struct{}), make(chan struct{})
	root := memctx.New("server")
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := memctx.FromContext(r.Context()).Arena()
		b := arena.Append(a, arena.MakeSlice[byte](a, 0, 100), bytes.Repeat([]byte("a"), 10_000)...)
		close(filled)
		<-goOn
		w.Write(arena.Append(a, b, 'b'))
	}))
	memhttp.Wrap(ts.Config, memhttp.Config{Parent: root})
	ts.Start()
	defer ts.Close()
	body := make(chan string, 1)
	go func() {
		_, got, err := fetch(ts.Client(), ts.URL)
		body <- fmt.Sprint(got, err)
	}()
	testkit.Receive(t, "the handler has filled its memory", filled)
	late, cancel := context.WithCancel(context.Background())
	cancel()
	if err := ts.Config.Shutdown(late); err == nil {
		t.Error("Shutdown waited for the handler")
	}
	root.Delete()
	for range 20 {
		for _, name := range []string{"request", "conn"} {
			mc := memctx.New(name)
			arena.Append(mc.Arena(), nil, bytes.Repeat([]byte("x"), 10_000)...)
			mc.Delete()
		}
	}
	close(goOn)
	if got, want := testkit.Receive(t, "the answer is there", body), strings.Repeat("a", 10_000)+"b<nil>"; got != want {
		t.Errorf("the answer has %d bytes, want %d: %.50q", len(got), len(want), got)
	}
	testkit.Until(t, "the contexts have ended", func() bool { return names("server").Live+names("conn").Live+names("request").Live == 0 })
	check.VerifyNone(t)
}

// TestDefaultMux checks that a server without a handler serves what net/http does.
func TestDefaultMux(t *testing.T) {
	s := serve(t, nil)
	if status, _ := get(t, s.Client(), s.URL+"/nowhere"); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

func TestMisuse(t *testing.T) {
	h := http.NotFoundHandler()
	srv := &http.Server{Addr: ":8080", Handler: h}
	memhttp.Wrap(srv)
	testkit.PanicText(t, `memhttp: Wrap of the server for ":8080", which is wrapped`, func() { memhttp.Wrap(srv) })
	testkit.PanicText(t, "memhttp: Wrap of a nil Server", func() { memhttp.Wrap(nil) })
	testkit.PanicText(t, "memhttp: Handler(nil)", func() { memhttp.Handler(nil) })
	testkit.PanicText(t, "memhttp: Handler: Config.RequestLimit is -1: want a number of bytes, 0 (no bound) or more",
		func() { memhttp.Handler(h, memhttp.Config{RequestLimit: -1}) })
	testkit.PanicText(t, "memhttp: Wrap: Config.ConnLimit is -2: want a number of bytes, 0 (no bound) or more",
		func() { memhttp.Wrap(&http.Server{}, memhttp.Config{ConnLimit: -2}) })
	testkit.PanicText(t, "memhttp: Handler: Config.LimitStatus is 200: want the status of an error, 400 to 599, or 0 (the default)",
		func() { memhttp.Handler(h, memhttp.Config{LimitStatus: 200}) })
	testkit.PanicText(t, "memhttp: Wrap: 2 structs of settings: want one, or none",
		func() { memhttp.Wrap(&http.Server{}, memhttp.Config{}, memhttp.Config{}) })
}
