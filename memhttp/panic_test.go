package memhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// TestPanic checks that a panic goes on as it was, and that the memory is left to
// the garbage collector: a goroutine that the handler would have waited for may
// be at it still.
func TestPanic(t *testing.T) {
	for _, v := range []any{http.ErrAbortHandler, "oops", errors.New("oops"), fmt.Errorf("around: %w", http.ErrAbortHandler), 7} {
		l := newLatecomer()
		root := memctx.New("server")
		var inside context.Context
		h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inside = r.Context()
			go l.ServeHTTP(httptest.NewRecorder(), r)
			<-l.filled
			panic(v)
		}), memhttp.Config{Parent: root})
		before := names("request")
		ctx, cancel := context.WithCancel(context.Background())
		r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
		if got := testkit.Panic(t, func() { h.ServeHTTP(httptest.NewRecorder(), r) }); got != v {
			t.Errorf("panic(%v) went on as %v", v, got)
		}
		cancel()
		if mc := memctx.FromContext(inside); mc != nil {
			t.Errorf("panic(%v): the request's context.Context still has %v", v, mc)
		}
		if n := names("request").Abandoned - before.Abandoned; n != 1 {
			t.Errorf("panic(%v) abandoned %d contexts", v, n)
		}
		churn(t, churner(root))
		close(l.goOn)
		if err := <-l.result; err != nil {
			t.Errorf("panic(%v): %v", v, err)
		}
		verifyNone(t, root)
	}
}

// TestPanicOnServer checks what the client and the server's log get of a panic,
// and that the server goes on.
func TestPanicOnServer(t *testing.T) {
	var logged lines
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 1, 10)
		switch r.URL.Path {
		case "/panic":
			panicHere()
		case "/abort":
			panic(http.ErrAbortHandler)
		}
	}), func(ts *httptest.Server) {
		ts.Config.ErrorLog = log.New(&logged, "", 0)
		ts.Start()
	})
	for _, path := range []string{"/abort", "/panic"} {
		if _, _, err := fetch(s.Client(), s.URL+path); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the client got %v, want EOF", path, err)
		}
		if status, _ := get(t, s.Client(), s.URL); status != http.StatusOK {
			t.Errorf("status %d after %s", status, path)
		}
	}
	// The log has the place of the panic, maybe twice since the client tries again,
	// and nothing of an abort.
	testkit.Until(t, "the panic is in the log", func() bool { return logged.String() != "" })
	if text := logged.String(); !strings.Contains(text, "panicHere") || strings.Contains(text, http.ErrAbortHandler.Error()) {
		t.Errorf("the log has\n%s", text)
	}
}

func panicHere() { panic("oops") }

// lines collects what a server logs.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestGoexit checks the third way out of a handler.
func TestGoexit(t *testing.T) {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 1, 10)
		runtime.Goexit()
	}))
	before := names("request")
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		returned = true
	}()
	<-done
	if n := names("request").Abandoned - before.Abandoned; n != 1 || returned {
		t.Errorf("%d contexts were abandoned; ServeHTTP returned: %v", n, returned)
	}
	check.VerifyNone(t)
}

// TestCallbackPanic checks that a callback which panics as the request ends does
// not keep the connection's context open.
func TestCallbackPanic(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		fill(mc.Arena(), 1, 10)
		mc.OnReset(func() { panic("in a callback") })
	}))
	if _, _, err := fetch(s.Client(), s.URL); err == nil {
		t.Error("the client got an answer")
	}
}

// TestDeletedParent checks that requests below a context that was deleted too
// early end in a panic that says so, and leave nothing behind.
func TestDeletedParent(t *testing.T) {
	root := memctx.New("server")
	h := memhttp.Handler(http.NotFoundHandler(), memhttp.Config{Parent: root})
	root.Delete()
	for range 2 {
		testkit.PanicText(t, `memctx: Child("request") of the deleted context server`,
			func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) })
	}
	check.VerifyNone(t)
}

// TestRequestAfterConn has a request begin when its connection has ended, as that
// of an HTTP/2 stream may.
func TestRequestAfterConn(t *testing.T) {
	captured := make(chan context.Context, 1)
	var inner http.Handler
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, memctx.FromContext(r.Context()).Path())
	}), func(ts *httptest.Server) {
		inner = ts.Config.Handler
		ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			captured <- r.Context()
			inner.ServeHTTP(w, r)
		})
		ts.Start()
	})
	get(t, s.Client(), s.URL)
	s.Client().CloseIdleConnections()
	testkit.Until(t, "the connection's context has ended", func() bool { return s.root.Stats().Contexts == 1 })
	w := httptest.NewRecorder()
	inner.ServeHTTP(w, httptest.NewRequest("GET", "/late", nil).WithContext(<-captured))
	if got := w.Body.String(); got != "server/request[/late]" {
		t.Errorf("path is %s", got)
	}
}
