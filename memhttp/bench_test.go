package memhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// sink is a ResponseWriter that costs nothing, with the optional interfaces of
// net/http's for HTTP/1.
type sink struct {
	header http.Header
	http.Hijacker
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Flush()                      {}

func (s *sink) ReadFrom(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) }

var jsonType = []string{"application/json"}

// BenchmarkHandler is what a request costs without the server, for a handler that takes
// sixteen bytes from the request's arena and writes them; one that sets a header, too; and one
// that does not ask for memory. Bare is the same handler without memhttp.
func BenchmarkHandler(b *testing.B) {
	asks := func(w http.ResponseWriter, r *http.Request) {
		w.Write(arena.MakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 16, 16))
	}
	root := memctx.New("bench")
	defer root.Delete()
	for _, does := range []struct {
		name string
		next http.HandlerFunc
	}{
		{"write", asks},
		{"header", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = jsonType
			asks(w, r)
		}},
		{"nothing", func(http.ResponseWriter, *http.Request) {}},
	} {
		mux := http.NewServeMux()
		mux.Handle("/search", does.next)
		for _, c := range []struct {
			name string
			h    http.Handler
		}{
			{"bare", does.next},
			{"memhttp", memhttp.Handler(does.next, memhttp.Config{Parent: root})},
			{"memhttp-limit", memhttp.Handler(does.next, memhttp.Config{Parent: root, RequestLimit: 1 << 20})},
			{"memhttp-root", memhttp.Handler(does.next)},
			{"mux", mux},
			{"memhttp-mux", memhttp.Handler(mux, memhttp.Config{Parent: root})},
		} {
			b.Run("impl="+c.name+"/does="+does.name, func(b *testing.B) {
				b.ReportAllocs()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				r := httptest.NewRequest("GET", "/search?q=1", nil).WithContext(ctx)
				w := &sink{header: http.Header{}}
				for b.Loop() {
					clear(w.header)
					c.h.ServeHTTP(w, r)
				}
			})
		}
	}
}

// BenchmarkPays makes objects for each request, on Go's heap without memhttp and in the
// request's arena with it: from how many on the latter is faster says when it pays.
func BenchmarkPays(b *testing.B) {
	type node struct {
		next  *node
		value [5]int
	}
	root := memctx.New("bench")
	defer root.Delete()
	for _, n := range []int{5, 10, 15, 20, 30, 40} {
		var keep *node
		work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := memctx.FromContext(r.Context()).Arena() // nil without memhttp
			keep = nil
			for range n {
				p := arena.New[node](a)
				p.next, keep = keep, p
			}
			keep = nil
		})
		for name, h := range map[string]http.Handler{"bare": work, "memhttp": memhttp.Handler(work, memhttp.Config{Parent: root})} {
			b.Run(fmt.Sprintf("impl=%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				r := httptest.NewRequest("GET", "/search?q=1", nil)
				w := &sink{header: http.Header{}}
				for b.Loop() {
					h.ServeHTTP(w, r)
				}
			})
		}
	}
}
