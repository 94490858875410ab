package debugpage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// fake returns a snapshot of a small program.
func fake() *memctx.Snapshot {
	request := row(2, "request", "GET /", 3<<20, 3<<20)
	request.Deleted, request.Leases = true, 1
	conn := row(1, "conn", "17", 1<<20, 4<<20)
	conn.Limit, conn.Contexts, conn.Children = 5<<20, 2, 1
	conn.Path, request.Path = "server/conn[17]", "server/conn[17]/request[GET /]"
	server := row(0, "server", "", 2<<20, 6<<20)
	server.Contexts, server.Children, server.More, server.MoreBytes = 5, 3, 2, 0
	return &memctx.Snapshot{
		Time:     time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Contexts: []memctx.Row{server, conn, request},
		Names: []memctx.NameStats{
			{Name: "conn", Live: 3, Usage: memctx.Usage{Bytes: 1 << 20, Chunks: 1, HighWater: 1 << 20}, Created: 11, Deleted: 8},
			{Name: "request", Live: 1, Held: 1, Usage: memctx.Usage{Bytes: 3 << 20, Chunks: 1, HighWater: 3 << 20}, Created: 5001, Deleted: 5000,
				LimitErrors: 13, Warm: arena.PoolStats{Idle: 2, Reserved: 77 << 10, Gets: 200, Hits: 150, Misses: 50}},
			{Name: "server", Live: 1, Usage: memctx.Usage{Bytes: 2 << 20, Chunks: 1, HighWater: 2 << 20}, Created: 1},
		},
		Caches: []slab.Stats{{Name: "sessions", InUse: 901, Objects: 1024, ObjectSize: 64, PerSlab: 512, SlabsInUse: 2, Slabs: 2,
			Magazines: 4, Cached: 23, Depot: 31, Hits: 9000, Misses: 1000, Frees: 9099, Bytes: 65536, Capacity: 1000}},
		Pools: []pool.Stats{{Name: "frames", Type: "*[]uint8", Idle: 12, InUse: 3, HighWater: 41, Bytes: 123456, MaxBytes: 1 << 20,
			Hits: 750, Misses: 250, Puts: 997, Trimmed: 17, DroppedFull: 5, DroppedTwice: 1,
			Classes: []pool.ClassStats{{Size: 4096, Idle: 12, Hits: 750, Misses: 250, Puts: 997}}}},
		Leaks: []check.Finding{{Kind: "dropped", What: "context", Name: "batch", Path: "batch", Count: 3, Bytes: 120 << 10,
			Age: 5 * time.Minute, Stack: "main.work()\n\t/src/main.go:12\n"},
			{Kind: "stale", What: "arena", Name: "request", Count: 2, Bytes: 8 << 10, Age: time.Minute,
				Type: "main.node", Chunks: 2, Released: "main.serve()\n\t/src/main.go:34\n"}},
	}
}

// row returns a context with so many bytes of its own and in all.
func row(depth int, name, ident string, own, total int) memctx.Row {
	path := name
	if ident != "" {
		path += "[" + ident + "]"
	}
	return memctx.Row{Depth: depth, Stats: memctx.Stats{
		Name: name, Ident: ident, Path: path, Contexts: 1, Resets: 4, Age: 90 * time.Second,
		Own:   memctx.Usage{Bytes: own, Chunks: 1, HighWater: own},
		Total: memctx.Usage{Bytes: total, Chunks: 2, HighWater: total},
	}}
}

// many returns a snapshot of a program with roots that have children.
func many(roots, children int) *memctx.Snapshot {
	s := &memctx.Snapshot{Time: time.Now()}
	for i := range roots {
		root := row(0, "root", fmt.Sprint(i), 0, children*(i+1))
		root.Children, root.Contexts = children, children+1
		s.Contexts = append(s.Contexts, root)
		for j := range children {
			s.Contexts = append(s.Contexts, row(1, "child", fmt.Sprint(i, "-", j), i+1, i+1))
		}
	}
	n := roots * (children + 1)
	s.Names = []memctx.NameStats{{Name: "all", Live: n, Usage: memctx.Usage{Bytes: roots * (roots + 1) / 2 * children}}}
	return s
}

// get returns what a handler answers.
func get(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// pageOf returns the page that shows a snapshot.
func pageOf(t *testing.T, s *memctx.Snapshot) string {
	t.Helper()
	w := get(t, debugpage.HandlerOf(func() *memctx.Snapshot { return s }), "GET", "/")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}
