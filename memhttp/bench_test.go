package memhttp_test

import (
	"context"
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

var jsonType = []string{"application/json"}

// BenchmarkHandler is what a request costs without the server: the handler writes
// two words that it has from the arena, or, bare, from the heap.
func BenchmarkHandler(b *testing.B) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := memctx.FromContext(r.Context()).Arena()
		p := arena.MakeSlice[byte](a, 16, 16)
		w.Header()["Content-Type"] = jsonType
		w.Write(p)
	})
	root := memctx.New("bench")
	defer root.Delete()
	for _, c := range []struct {
		name string
		h    http.Handler
	}{
		{"bare", next},
		{"memhttp", memhttp.Handler(next, memhttp.Config{Parent: root})},
		{"memhttp/limit", memhttp.Handler(next, memhttp.Config{Parent: root, RequestLimit: 1 << 20})},
		{"memhttp/shared", memhttp.Handler(next)},
	} {
		b.Run("impl="+c.name, func(b *testing.B) {
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
