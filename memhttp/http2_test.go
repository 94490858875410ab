package memhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// http2 starts a test server that speaks HTTP/2.
func http2(ts *httptest.Server) {
	ts.EnableHTTP2 = true
	ts.StartTLS()
}

// TestHTTP2 has many requests of one connection at the same time, each in a
// context of its own below the connection's.
func TestHTTP2(t *testing.T) {
	const n = 50
	var mu sync.Mutex
	parents, all := map[*memctx.Context]int{}, map[*memctx.Context]bool{}
	together := make(chan struct{})
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		mu.Lock()
		parents[mc.Parent()]++
		all[mc] = true
		if len(all) == n {
			close(together)
		}
		id := uint64(len(all))
		mu.Unlock()
		list := fill(mc.Arena(), id, 1000)
		<-together
		if err := intact(list, id, 1000); err != nil || r.ProtoMajor != 2 {
			t.Errorf("HTTP/%d: %v", r.ProtoMajor, err)
		}
	}), http2)
	get := func() {
		if status, _, err := fetch(s.Client(), s.URL); err != nil || status != http.StatusOK {
			t.Errorf("%d, %v", status, err)
		}
	}
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			get()
		}()
	}
	wg.Wait()
	if len(all) != n {
		t.Errorf("%d requests had %d contexts", n, len(all))
	}
	if len(parents) > 2 { // the client may open two before it knows of HTTP/2
		t.Errorf("%d requests were of %d connections", n, len(parents))
	}
}

// TestHTTP2ConnEnds has the connection end while its requests run. They keep their
// memory, and that of the connection, until they have returned.
func TestHTTP2ConnEnds(t *testing.T) {
	const n = 10
	running, goOn, result := make(chan context.Context, n), make(chan struct{}), make(chan error, n)
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		list := fill(mc.Arena(), 7, 1000)
		running <- r.Context()
		<-goOn
		err := intact(list, 7, 1000)
		if err == nil {
			err = intact(fill(mc.Child("query").Arena(), 8, 1000), 8, 1000)
		}
		if err == nil && mc.Parent().Stats().Deleted {
			err = errors.New("the connection's context was deleted")
		}
		result <- err
	}), http2)
	requests, conns := names("request"), names("conn")
	ctx, hangUp := context.WithCancel(context.Background())
	tr := s.Client().Transport.(*http.Transport)
	get := func() {
		r, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
		if res, err := tr.RoundTrip(r); err == nil {
			res.Body.Close()
			t.Error("the client got an answer")
		}
	}
	for range n {
		go get()
	}
	var contexts []context.Context
	for range n {
		contexts = append(contexts, testkit.Receive(t, "a request runs", running))
	}
	s.CloseClientConnections() // StateClosed comes while the handlers wait
	hangUp()
	for _, ctx := range contexts {
		testkit.Receive(t, "a handler could know", ctx.Done())
	}
	churn(t, churner(s.root))
	close(goOn)
	for range n {
		if err := testkit.Receive(t, "a handler has returned", result); err != nil {
			t.Error(err)
		}
	}
	// Some may have gone on a second connection, or have opened one in vain.
	testkit.Until(t, "all has ended", func() bool {
		tr.CloseIdleConnections()
		return s.root.Stats().Contexts == 1
	})
	if r, c := names("request").Abandoned-requests.Abandoned, names("conn").Abandoned-conns.Abandoned; r != n || c < 1 {
		t.Errorf("%d requests and %d connections were abandoned, want %d and 1", r, c, n)
	}
}

// TestHTTP2Reset has a client give up while a handler writes. net/http may read
// the bytes of that Write after it has returned with an error.
func TestHTTP2Reset(t *testing.T) {
	failed := make(chan error, 1)
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<20) // more than the client's window
		var err error
		for err == nil {
			_, err = w.Write(b)
		}
		failed <- err
		fill(memctx.FromContext(r.Context()).Arena(), 1, 1)
	}), http2)
	before := names("request")
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(res.Body, make([]byte, 1000))
	cancel()
	res.Body.Close()
	testkit.Receive(t, "a Write has failed", failed)
	testkit.Until(t, "the request has ended", func() bool { return names("request").Abandoned > before.Abandoned })
}

// TestWriteFails checks that a Write's error is enough, whatever the request's
// context.Context says.
func TestWriteFails(t *testing.T) {
	write := map[string]func(w http.ResponseWriter){
		"Write":       func(w http.ResponseWriter) { w.Write([]byte("x")) },
		"WriteString": func(w http.ResponseWriter) { io.WriteString(w, "x") },
		"ReadFrom":    func(w http.ResponseWriter) { w.(io.ReaderFrom).ReadFrom(nil) },
		"Flush":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"FlushError":  func(w http.ResponseWriter) { http.NewResponseController(w).Flush() },
	}
	root := memctx.New("server")
	for name, f := range write {
		for _, c := range []struct {
			err  error
			want uint64
		}{{nil, 0}, {errors.New("stream closed"), 1}, {http.ErrBodyNotAllowed, 0}} {
			before := names("request")
			memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w) }), memhttp.Config{Parent: root}).
				ServeHTTP(&failing{err: c.err}, httptest.NewRequest("GET", "/", nil))
			if n := names("request").Abandoned - before.Abandoned; n != c.want {
				t.Errorf("%s with error %v: %d contexts were abandoned, want %d", name, c.err, n, c.want)
			}
		}
	}
	verifyNone(t, root)
}

// failing is a ResponseWriter whose writes fail.
type failing struct{ err error }

func (f *failing) Header() http.Header               { return http.Header{} }
func (f *failing) WriteHeader(int)                   {}
func (f *failing) Write([]byte) (int, error)         { return 0, f.err }
func (f *failing) ReadFrom(io.Reader) (int64, error) { return 0, f.err }
func (f *failing) FlushError() error                 { return f.err }
func (f *failing) Flush()                            {}

// TestUnencryptedHTTP2 has HTTP/2 without TLS, where net/http makes the connection
// known by another name within.
func TestUnencryptedHTTP2(t *testing.T) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		fill(mc.Arena(), 1, 10)
		fmt.Fprint(w, r.Proto, " ", mc.Parent().Name())
	}), func(ts *httptest.Server) {
		ts.Config.Protocols = protocols
		ts.Start()
	})
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	for range 3 {
		if _, body := get(t, client, s.URL); body != "HTTP/2.0 conn" {
			t.Errorf("body is %q", body)
		}
	}
	client.CloseIdleConnections()
}
