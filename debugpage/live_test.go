package debugpage_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// TestLive compares the JSON with what live objects say of themselves.
func TestLive(t *testing.T) {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	server := memctx.New("live server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	conn := server.Child("live conn", memctx.Config{Ident: "17"})
	arena.MakeSlice[int](conn.Arena(), 1000, 1000)
	cache := slab.NewCache[[3]string](slab.Config[[3]string]{Name: "live cache"})
	kept := cache.Alloc()
	buffers := pool.NewBytes(pool.BytesConfig{Name: "live buffers"})
	buffers.Put(buffers.Get(3000))

	var s debugpage.Stats
	if err := json.Unmarshal(get(t, mux, "GET", debugpage.Path+"stats.json").Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range s.Contexts {
		for _, c := range []*memctx.Context{server, conn} {
			if want := c.Stats(); r.Path == want.Path {
				found++
				want.Age, want.Created = r.Age, r.Created
				if r.Stats != want {
					t.Errorf("the row is\n%+v\nwant\n%+v", r.Stats, want)
				}
			}
		}
	}
	for _, c := range s.Caches {
		if c.Name == "live cache" {
			found++
			if want := cache.Stats(); c != want {
				t.Errorf("the cache is\n%+v\nwant\n%+v", c, want)
			}
		}
	}
	for _, p := range s.Pools {
		if p.Name == "live buffers" {
			found++
			if want := buffers.Stats(); p.String() != want.String() {
				t.Errorf("the pool is\n%v\nwant\n%v", p, want)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d of 4 objects are in the JSON", found)
	}
	page := get(t, mux, "GET", debugpage.Path).Body.String()
	for _, want := range []string{"live conn[17]", "live server/<wbr>live conn[17]", "live cache", "live buffers"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	cache.Free(kept)
}

// TestConcurrent asks while the program is at work.
func TestConcurrent(t *testing.T) {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	server := memctx.New("busy")
	defer server.Delete()
	var group sync.WaitGroup
	for range 4 {
		group.Add(2)
		go func() {
			defer group.Done()
			for range 50 {
				c := server.Child("work")
				arena.New[[100]int](c.Arena())
				c.Delete()
			}
		}()
		go func() {
			defer group.Done()
			for i := range 20 {
				if w := get(t, mux, "GET", debugpage.Path+[]string{"", "stats.json"}[i%2]); w.Code != http.StatusOK {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
			}
		}()
	}
	group.Wait()
}
