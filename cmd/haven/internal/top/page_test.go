package top

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// TestRealPage reads the page of this process, and compares what is printed with
// what the contexts, caches and pools say of themselves.
func TestRealPage(t *testing.T) {
	type node struct {
		next *node
		v    [5]int
	}
	shop := memctx.New("shop", memctx.Config{Limit: 10 << 20})
	defer shop.Delete()
	order := shop.Child("order", memctx.Config{Ident: "17", Limit: 1 << 20})
	var list *node
	for range 15_000 {
		n := arena.New[node](order.Arena())
		n.next, list = list, n
	}
	held := shop.Child("order", memctx.Config{Ident: evil})
	arena.MakeSlice[byte](held.Arena(), 5000, 5000)
	defer held.Retain()()
	held.Delete()
	cache := slab.NewCache(slab.Config[node]{Name: "shop nodes", Capacity: 1000})
	for range 900 {
		cache.Alloc()
	}
	buffers := pool.NewBytes(pool.BytesConfig{Name: "shop buffers"})
	buffers.Put(buffers.Get(3000))
	inUse := buffers.Get(3000)

	mux := http.NewServeMux()
	debugpage.Register(mux)
	server := httptest.NewServer(mux)
	defer server.Close()

	// printed returns the line of a view that ends in name, as words.
	printed := func(view, name string) []string {
		t.Helper()
		status, stdout, stderr := once("-once", server.URL, "-view", view)
		if status != 0 || stderr != "" {
			t.Fatalf("status %d, %s", status, stderr)
		}
		for line := range strings.Lines(stdout) {
			if rest, ok := strings.CutSuffix(strings.TrimSuffix(line, "\n"), " "+name); ok {
				return strings.Fields(rest)
			}
		}
		t.Fatalf("view %s has no line of %s:\n%s", view, name, stdout)
		return nil
	}
	want := func(view, name string, cells ...string) {
		t.Helper()
		// Ages, at the end, differ from call to call.
		if got := printed(view, name); strings.Join(got[:min(len(got), len(cells))], " ") != strings.Join(cells, " ") {
			t.Errorf("%s of view %s: %q, want %q", name, view, got, cells)
		}
	}
	s, o, h := shop.Stats(), order.Stats(), held.Stats()
	want("tree", "shop", formatBytes(s.Total.Bytes), formatBytes(s.Own.Bytes), formatBytes(s.Total.HighWater), "10.0M", formatShare(s.Total.Bytes, 10<<20), "-", formatCount(s.Total.Chunks), "3", "0", "0")
	want("tree", "order[17]", formatBytes(o.Total.Bytes), formatBytes(o.Own.Bytes), formatBytes(o.Total.HighWater), "1.0M", formatShare(o.Total.Bytes, 1<<20))
	want("contexts", quoted(h.Path)+" (deleted)", formatBytes(h.Own.Bytes))
	want("limits", "shop/order[17]", formatShare(o.Total.Bytes, 1<<20), formatBytes(o.Total.Bytes), "1.0M", "-", "context")
	want("names", "order", formatBytes(o.Own.Bytes+h.Own.Bytes))
	c := cache.Stats()
	want("caches", "shop nodes", formatBytes(c.Bytes), "900", formatCount(c.Objects), formatShare(900, c.Objects), formatBytes(c.ObjectSize))
	want("limits", "shop nodes", "90%", "900", "obj", "1000", "obj", "-", "cache")
	p := buffers.Stats()
	want("pools", "shop buffers of "+p.Type, formatBytes(p.Bytes), formatCount(p.Idle), "1")

	status, stdout, stderr := once("-json", server.URL)
	var got debugpage.Stats
	if err := json.Unmarshal([]byte(stdout), &got); status != 0 || err != nil {
		t.Fatalf("status %d, %v, %s", status, err, stderr)
	}
	for _, r := range got.Contexts {
		if r.Path == s.Path && (r.Total != s.Total || r.Own != s.Own || r.Limit != s.Limit || !r.Created.Equal(s.Created)) {
			t.Errorf("%+v, want %+v", r, s)
		}
	}
	if got.Process.Go != runtime.Version() || got.Totals.ContextBytes < s.Total.Bytes || got.Process.Heap < uint64(s.Total.Bytes) {
		t.Errorf("%+v, %+v", got.Process, got.Totals)
	}
	runtime.KeepAlive(list)
	runtime.KeepAlive(cache)
	runtime.KeepAlive(inUse)
}
