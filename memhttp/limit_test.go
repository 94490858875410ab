package memhttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// TestLimit checks the answer to a request that goes over a limit.
func TestLimit(t *testing.T) {
	const little, much = 64 << 10, 1 << 20
	grow := func(mc *memctx.Context) { fill(mc.Arena(), 1, much/16) }
	handlers := map[string]http.HandlerFunc{
		"panic": func(w http.ResponseWriter, r *http.Request) { grow(memctx.FromContext(r.Context())) },
		"child": func(w http.ResponseWriter, r *http.Request) { grow(memctx.FromContext(r.Context()).Child("query")) },
		"own child": func(w http.ResponseWriter, r *http.Request) {
			grow(memctx.FromContext(r.Context()).Child("query", memctx.Config{Limit: 1000}))
		},
		"wrapped": func(w http.ResponseWriter, r *http.Request) {
			_, err := arena.TryMakeSlice[byte](memctx.FromContext(r.Context()).Arena(), much, much)
			panic(fmt.Errorf("search: %w", err))
		},
		"with a header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Content-Encoding", "gzip")
			grow(memctx.FromContext(r.Context()))
		},
		"early hints": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			grow(memctx.FromContext(r.Context()))
		},
		"in TimeoutHandler": func(w http.ResponseWriter, r *http.Request) {
			http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Write([]byte("this is not sent"))
				grow(memctx.FromContext(r.Context()))
			}), time.Hour, "").ServeHTTP(w, r)
		},
	}
	own, conn := memhttp.Config{RequestLimit: little}, memhttp.Config{ConnLimit: little}
	for _, c := range []struct {
		name string
		h    string
		conf memhttp.Config
		want int
	}{
		{"own limit", "panic", own, 413},
		{"own limit, by a child", "child", own, 413},
		{"limit of a child", "own child", memhttp.Config{}, 413},
		{"own limit, wrapped error", "wrapped", own, 413},
		{"own limit, header set", "with a header", own, 413},
		{"own limit, early hints sent", "early hints", own, 413},
		{"own limit, in a TimeoutHandler", "in TimeoutHandler", own, 413},
		{"connection's limit", "panic", conn, 503},
		{"connection's limit, by a child", "child", conn, 503},
		{"with another status", "panic", memhttp.Config{RequestLimit: little, LimitStatus: 507}, 507},
		{"above, with another status", "panic", memhttp.Config{ConnLimit: little, LimitStatus: 507}, 507},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, handlers[c.h], c.conf)
			for range 3 {
				res, err := s.Client().Get(s.URL)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if want := http.StatusText(c.want) + ": memory limit\n"; err != nil || res.StatusCode != c.want || string(body) != want {
					t.Errorf("%d %q, %v, want %d %q", res.StatusCode, body, err, c.want, want)
				}
				if e := res.Header.Get("Content-Encoding"); e != "" {
					t.Errorf("the encoding of %q is %s", body, e)
				}
				if !res.Close {
					t.Error("the connection stays open, and what the request took still counts for it")
				}
			}
		})
	}
}

// TestLimitOfRoot has the server's limit reached.
func TestLimitOfRoot(t *testing.T) {
	root := memctx.New("server", memctx.Config{Limit: 64 << 10})
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 1, 64<<10)
	}), memhttp.Config{Parent: root})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", w.Code)
	}
	verifyNone(t, root)
}

// TestLimitAfterHangUps checks that clients who hang up do not lock others out: the
// memory of their requests, left to the garbage collector, is found when the limit
// of the server is reached.
func TestLimitAfterHangUps(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so that it does not come by itself
	root := memctx.New("server", memctx.Config{Limit: 1 << 20})
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(memctx.FromContext(r.Context()).Arena(), 1, 4000)
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
	}), memhttp.Config{Parent: root})
	serve := func(path string) int {
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if v := recover(); v != nil && v != http.ErrAbortHandler {
					panic(v)
				}
			}()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		}()
		return w.Code
	}
	full := false
	for range 100 {
		full = full || serve("/abort") == http.StatusServiceUnavailable
	}
	if !full {
		t.Fatal("100 aborted requests did not reach the limit")
	}
	testkit.Until(t, "there is room again", func() bool { return serve("/") == http.StatusOK })
	verifyNone(t, root)
}

// TestLimitAfterWrite checks that a client does not take what was written before
// the limit was reached for the whole answer.
func TestLimitAfterWrite(t *testing.T) {
	begin := map[string]func(w http.ResponseWriter){
		"/write":  func(w http.ResponseWriter) { io.WriteString(w, "part") },
		"/header": func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"/flush":  func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"/controller": func(w http.ResponseWriter) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic(err)
			}
		},
		"/copy":   func(w http.ResponseWriter) { io.Copy(w, io.LimitReader(strings.NewReader("part"), 4)) },
		"/length": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "10"); io.WriteString(w, "part") },
	}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin[r.URL.Path](w)
		fill(memctx.FromContext(r.Context()).Arena(), 1, 64<<10)
	}), memhttp.Config{RequestLimit: 64 << 10})
	for path := range begin {
		if status, body, err := fetch(s.Client(), s.URL+path); err == nil {
			t.Errorf("%s: the client takes %d %q for an answer", path, status, body)
		}
	}
}

// TestLimitAfterHijack checks that nothing is written to a connection that is
// somebody else's.
func TestLimitAfterHijack(t *testing.T) {
	closed, logged := make(chan struct{}), new(lines)
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nc, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			<-closed
			io.WriteString(nc, "mine")
			nc.Close()
		}()
		defer close(closed)
		fill(memctx.FromContext(r.Context()).Arena(), 1, 64<<10)
	}), func(ts *httptest.Server) {
		ts.Config.ErrorLog = log.New(logged, "", 0)
		ts.Start()
	}, memhttp.Config{RequestLimit: 64 << 10})
	nc, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, err := io.ReadAll(nc); err != nil || string(got) != "mine" {
		t.Errorf("the client got %q, %v", got, err)
	}
	testkit.Until(t, "the request has ended", func() bool { return s.root.Stats().Contexts == 1 })
	if text := logged.String(); text != "" {
		t.Errorf("net/http says %s", text)
	}
}

// TestLimitReturned has a handler take care of the limit itself.
func TestLimitReturned(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := arena.TryMakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 1<<20, 1<<20)
		var limit *arena.LimitError
		if !errors.As(err, &limit) {
			t.Errorf("error is %v", err)
		}
		http.Error(w, "mine", http.StatusTeapot)
	}), memhttp.Config{RequestLimit: 64 << 10})
	before := names("request")
	if status, body := get(t, s.Client(), s.URL); status != http.StatusTeapot || body != "mine\n" {
		t.Errorf("%d %q", status, body)
	}
	testkit.Until(t, "the request has ended", func() bool { return names("request").Deleted > before.Deleted })
}

// TestLimitPanicOfOthers checks that another error of the arena is not taken for a
// limit.
func TestLimitPanicOfOthers(t *testing.T) {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arena.MakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 2, 1)
	}))
	w := httptest.NewRecorder()
	if _, ok := testkit.Panic(t, func() { h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)) }).(*arena.LimitError); ok {
		t.Error("a length above the capacity is a limit")
	}
	if w.Body.Len() != 0 {
		t.Errorf("%q was written", w.Body)
	}
	check.VerifyNone(t)
}
