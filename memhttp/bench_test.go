package memhttp_test

import (
	"context"
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
