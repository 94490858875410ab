package havenprometheus_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	havenprometheus "github.com/haven-mem/haven/contrib/prometheus"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

var update = flag.Bool("update", false, "write the golden file")

// snapshot has a value for each metric, names that occur twice, and names that
// Prometheus could not have as they are.
func snapshot() *memctx.Snapshot {
	return &memctx.Snapshot{
		Names: []memctx.NameStats{
			{
				Name: "request", Live: 3, Held: 1, Usage: memctx.Usage{Bytes: 3 << 20, Chunks: 48, HighWater: 2 << 20},
				Created: 1000, Deleted: 990, Abandoned: 4, Dropped: 3, LimitErrors: 2,
				Warm: arena.PoolStats{Idle: 8, Reserved: 1 << 20, Gets: 1000, Hits: 980, Misses: 20},
			},
			{Name: "a \"quoted\"\nname\\", Live: 1, Created: 1},
			{Name: "\xff", Live: 1, Usage: memctx.Usage{HighWater: 100}, Created: 1},
			{Name: "\xfe\xff", Live: 1, Usage: memctx.Usage{HighWater: 200}, Created: 1},
		},
		Caches: []slab.Stats{
			{Name: "nodes", InUse: 100, Objects: 510, ObjectSize: 48, PerSlab: 170, SlabsInUse: 2, Slabs: 3, Cached: 57, Depot: 114, Hits: 1000, Misses: 50, Frees: 950, Bytes: 24576, Capacity: 1000},
			{Name: "nodes", InUse: 1, Objects: 170, ObjectSize: 48, PerSlab: 170, SlabsInUse: 1, Slabs: 1, Misses: 1, Bytes: 8192, Capacity: 500},
			{Name: "sessions"},
		},
		Pools: []pool.Stats{
			{Name: "buffers", Idle: 20, InUse: 5, Bytes: 81920, Max: 100, MaxBytes: 1 << 20, Hits: 500, Misses: 35, Puts: 530, Trimmed: 4, DroppedFull: 3, DroppedBytes: 2, DroppedPanic: 1, DroppedSize: 4, DroppedTwice: 1, DroppedWatched: 2},
			{Name: "encoders", InUse: -1, Puts: 1},
		},
		Leaks: []check.Finding{
			{Kind: "dropped", What: "context", Name: "request", Path: "server/request[7]", Count: 2, Stack: "one"},
			{Kind: "dropped", What: "context", Name: "request", Path: "server/request[8]", Count: 1, Stack: "other"},
			{Kind: "old", What: "context", Name: "server", Path: "server", Count: 1},
			{Kind: "stale", What: "arena", Name: "request", Type: "main.node", Count: 2, Released: "here"},
		},
	}
}

func golden() *prometheus.Registry {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(havenprometheus.NewCollectorOf(snapshot))
	return r
}

// text returns what a scrape of r returns.
func text(t *testing.T, r prometheus.Gatherer) []byte {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	const file = "testdata/metrics.txt"
	if *update {
		if err := os.WriteFile(file, text(t, golden()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(golden(), bytes.NewReader(want)); err != nil {
		t.Errorf("%v\nIf this is what it should be: go test -update .", err)
	}
	// In both directions: what the file has and the registry has not.
	if got := text(t, golden()); !bytes.Equal(got, want) {
		t.Errorf("%s is not what a scrape returns now", file)
	}
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(golden())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Prometheus' own check, where it is installed.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("%v: install Prometheus (on Debian: apt-get install prometheus)", err)
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(text(t, golden()))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// What is described is what can be collected, and the documentation lists it.
func TestDescribe(t *testing.T) {
	descs := make(chan *prometheus.Desc, 100)
	havenprometheus.NewCollector().Describe(descs)
	close(descs)
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for d := range descs {
		_, name, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ = strings.Cut(name, `"`)
		described[name] = true
	}
	families, err := golden().Gather()
	if err != nil {
		t.Fatal(err)
	}
	collected := map[string]bool{}
	for _, f := range families {
		collected[f.GetName()] = true
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if name, ok := strings.CutPrefix(line, "//\t"); ok && strings.HasPrefix(name, "haven_") {
			documented[strings.Fields(name)[0]] = true
		}
	}
	if !maps.Equal(described, collected) {
		t.Errorf("described are %v, collected %v", described, collected)
	}
	if !maps.Equal(described, documented) {
		t.Errorf("described are %v, documented %v", described, documented)
	}
}

// Nothing tells one context of a name from another.
func TestLabels(t *testing.T) {
	families, err := golden().Gather()
	if err != nil {
		t.Fatal(err)
	}
	may := []string{"name", "state", "result", "reason", "kind", "what"}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if !slices.Contains(may, l.GetName()) {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
				if strings.Contains(l.GetValue(), "[7]") {
					t.Errorf("%s has the label %s=%q", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
}

func TestOnceInARegistry(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(havenprometheus.NewCollector())
	if err := r.Register(havenprometheus.NewCollector()); err == nil {
		t.Error("a second collector was registered")
	}
}

// value returns the value of a series of a registry, or -1 if there is none.
func value(t *testing.T, r prometheus.Gatherer, metric string, labels ...string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		for _, m := range f.Metric {
			var has []string
			for _, l := range m.Label {
				has = append(has, l.GetName()+"="+l.GetValue())
			}
			if !slices.Equal(has, labels) {
				continue
			}
			if f.GetType() == dto.MetricType_COUNTER {
				return m.Counter.GetValue()
			}
			return m.Gauge.GetValue()
		}
	}
	return -1
}

var runs atomic.Int64

// The numbers of the process are those of its Stats. Each run has a name of its
// own, since caches of an earlier one may be alive still.
func TestProcess(t *testing.T) {
	testkit.NeedsReuse(t)
	name := fmt.Sprint("process", runs.Add(1))
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(havenprometheus.NewCollector())
	nodes := slab.NewCache[[48]byte](slab.Config[[48]byte]{Name: name, Capacity: 1000})
	buffers := pool.NewBytes(pool.BytesConfig{Name: name, MaxBytes: 1 << 20, Floor: 100}) // no collection takes them
	server := memctx.New(name + " server")
	defer server.Delete()
	var inUse []*[48]byte
	for i := range 100 {
		n := nodes.Alloc()
		if i%3 == 0 {
			nodes.Free(n)
		} else {
			inUse = append(inUse, n)
		}
		b := buffers.Get(i * 100)
		if i%4 != 0 {
			buffers.Put(b)
		}
		request := server.Child(name, memctx.Config{Ident: "7"})
		arena.MakeSlice[byte](request.Arena(), 1000, 1000)
		if i%10 != 0 {
			request.Delete()
		} else {
			defer request.Delete()
		}
	}
	cache, buffer := nodes.Stats(), buffers.Stats()
	var requests memctx.NameStats
	for s := range memctx.Names() {
		if s.Name == name {
			requests = s
		}
	}
	for _, c := range []struct {
		metric string
		labels []string
		want   float64
	}{
		{"haven_context_live", []string{"name=" + name}, 10},
		{"haven_context_live", []string{"name=" + name + " server"}, 1},
		{"haven_context_created_total", []string{"name=" + name}, 100},
		{"haven_context_deleted_total", []string{"name=" + name}, 90},
		{"haven_context_bytes", []string{"name=" + name}, float64(requests.Usage.Bytes)},
		{"haven_context_chunks", []string{"name=" + name}, float64(requests.Usage.Chunks)},
		{"haven_context_high_water_bytes", []string{"name=" + name}, float64(requests.Usage.HighWater)},
		{"haven_context_warm_gets_total", []string{"name=" + name, "result=hit"}, float64(requests.Warm.Hits)},
		{"haven_context_warm_gets_total", []string{"name=" + name, "result=miss"}, float64(requests.Warm.Misses)},
		{"haven_cache_objects", []string{"name=" + name, "state=in_use"}, float64(len(inUse))},
		{"haven_cache_capacity", []string{"name=" + name}, 1000},
		{"haven_cache_bytes", []string{"name=" + name}, float64(cache.Bytes)},
		{"haven_cache_allocs_total", []string{"name=" + name, "result=hit"}, float64(cache.Hits)},
		{"haven_cache_allocs_total", []string{"name=" + name, "result=miss"}, float64(cache.Misses)},
		{"haven_cache_frees_total", []string{"name=" + name}, float64(cache.Frees)},
		{"haven_pool_objects", []string{"name=" + name, "state=in_use"}, 25},
		{"haven_pool_objects", []string{"name=" + name, "state=idle"}, float64(buffer.Idle)},
		{"haven_pool_max_bytes", []string{"name=" + name}, 1 << 20},
		{"haven_pool_max_objects", []string{"name=" + name}, -1},
		{"haven_pool_gets_total", []string{"name=" + name, "result=hit"}, float64(buffer.Hits)},
		{"haven_pool_gets_total", []string{"name=" + name, "result=miss"}, float64(buffer.Misses)},
		{"haven_pool_puts_total", []string{"name=" + name}, 75},
	} {
		if got := value(t, r, c.metric, c.labels...); got != c.want {
			t.Errorf("%s%q is %v, want %v", c.metric, c.labels, got, c.want)
		}
	}
	if requests.Usage.Bytes < 10*1000 || cache.Hits == 0 || buffer.Hits == 0 {
		t.Errorf("nothing to see: %+v, %v, %v", requests, cache, buffer)
	}
	runtime.KeepAlive(inUse)
	runtime.KeepAlive(nodes)
	runtime.KeepAlive(buffers)
}

// Scrapes at the same time, while others work and caches come and go, are whole:
// no duplicates, no counter that falls.
func TestParallelScrapes(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(havenprometheus.NewCollector())
	kept := slab.NewCache[[32]byte](slab.Config[[32]byte]{Name: "parallel"})
	kept.Free(kept.Alloc())
	stop := make(chan struct{})
	var workers, scrapers sync.WaitGroup
	for range 2 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				c := slab.NewCache[[32]byte](slab.Config[[32]byte]{Name: "parallel"})
				c.Free(c.Alloc())
				kept.Free(kept.Alloc())
				mc := memctx.New("parallel")
				mc.Child("parallel child").Arena()
				mc.Delete()
				if i%100 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	for range 3 {
		scrapers.Add(1)
		go func() {
			defer scrapers.Done()
			last := 0.0
			for range 50 {
				now := value(t, r, "haven_cache_frees_total", "name=parallel")
				if now < last || now < 1 {
					t.Errorf("haven_cache_frees_total went from %v to %v", last, now)
				}
				last = now
			}
		}()
	}
	scrapers.Wait()
	close(stop)
	workers.Wait()
	runtime.KeepAlive(kept)
}
