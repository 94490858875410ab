package memhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// TestRoutesHaveTheirArenas checks that a route finds the arena of its own requests warm, and
// not that of another.
func TestRoutesHaveTheirArenas(t *testing.T) {
	testkit.NeedsReuse(t)
	root := memctx.New("root")
	mux := http.NewServeMux()
	var warm int
	take := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			a := memctx.FromContext(r.Context()).Arena()
			warm = a.Stats().Reserved
			arena.MakeSlice[byte](a, n, n)
		}
	}
	mux.Handle("/login", take(100))
	mux.Handle("/export", take(100_000))
	h := memhttp.Handler(mux, memhttp.Config{Parent: root})
	found := 0
	for range 20 {
		for path, n := range map[string]int{"/login": 100, "/export": 100_000} {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			if path == "/login" && warm > 10_000 {
				t.Errorf("%s got an arena with %d bytes", path, warm)
			}
			if path == "/export" && warm >= n {
				found++
			}
		}
	}
	if found < 10 { // the detector of stale pointers takes some
		t.Errorf("/export found a warm arena in %d of 20 requests", found)
	}
	verifyNone(t, root)
}

// TestEndlessRoutes checks that a Route that makes up names does not make endless kinds of
// contexts, and takes none from other handlers.
func TestEndlessRoutes(t *testing.T) {
	root := memctx.New("root")
	var name string
	see := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name = memctx.FromContext(r.Context()).Name()
	})
	n := 0
	h := memhttp.Handler(see, memhttp.Config{Parent: root, Route: func(*http.Request) string { return fmt.Sprint("endless ", n) }})
	for ; n < 1000; n++ {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		want := "request"
		if n < 256 {
			want = fmt.Sprint("endless ", n)
		}
		if name != want {
			t.Fatalf("request %d is named %q, want %q", n, name, want)
		}
	}
	n = 7
	if h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)); name != "endless 7" {
		t.Errorf("a name known is %q now", name)
	}
	memhttp.Handler(see, memhttp.Config{Parent: root, Route: func(*http.Request) string { return "another" }}).
		ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if name != "another" {
		t.Errorf("a request of another handler is named %q", name)
	}
	verifyNone(t, root)
}

// TestRoutePanics checks that a Route, or an Ident, that panics leaves nothing behind, and
// that the next request is served.
func TestRoutePanics(t *testing.T) {
	root := memctx.New("root")
	bad := true
	boom := func(*http.Request) string {
		if bad {
			panic("boom")
		}
		return "good"
	}
	for _, conf := range []memhttp.Config{{Route: boom}, {Ident: boom}} {
		conf.Parent = root
		served := 0
		h := memhttp.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }), conf)
		ctx, cancel := context.WithCancel(context.Background())
		r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
		bad = true
		testkit.PanicText(t, "boom", func() { h.ServeHTTP(httptest.NewRecorder(), r) })
		bad = false
		if h.ServeHTTP(httptest.NewRecorder(), r); served != 1 {
			t.Errorf("%d requests were served, want 1", served)
		}
		cancel()
	}
	verifyNone(t, root)
}
