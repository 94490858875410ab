package metrics_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/contrib/internal/metrics"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// read returns what a reader of one snapshot reads, as lines.
func read(s memctx.Snapshot) []string {
	return lines(&metrics.Reader{Take: func() *memctx.Snapshot { return &s }})
}

func lines(r *metrics.Reader) (list []string) {
	for _, v := range r.Read() {
		list = append(list, fmt.Sprintf("%s %q %d", v.Metric.Name, v.Labels, v.Number))
	}
	return list
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// only returns the lines of one metric.
func only(lines []string, metric string) (list []string) {
	for _, l := range lines {
		if strings.HasPrefix(l, metric+" ") {
			list = append(list, l)
		}
	}
	return list
}

func TestContexts(t *testing.T) {
	want(t, read(memctx.Snapshot{Names: []memctx.NameStats{{
		Name: "request", Live: 1, Held: 2, Usage: memctx.Usage{Bytes: 3, Chunks: 4, HighWater: 5},
		Created: 6, Deleted: 7, Abandoned: 8, Dropped: 9, LimitErrors: 10,
		Warm: arena.PoolStats{Idle: 11, Reserved: 12, Gets: 27, Hits: 13, Misses: 14},
	}}}),
		`context.live ["request"] 1`,
		`context.held ["request"] 2`,
		`context.bytes ["request"] 3`,
		`context.chunks ["request"] 4`,
		`context.high_water_bytes ["request"] 5`,
		`context.created ["request"] 6`,
		`context.deleted ["request"] 7`,
		`context.abandoned ["request"] 8`,
		`context.dropped ["request"] 9`,
		`context.limit_errors ["request"] 10`,
		`context.warm_arenas ["request"] 11`,
		`context.warm_bytes ["request"] 12`,
		`context.warm_gets ["request" "hit"] 13`,
		`context.warm_gets ["request" "miss"] 14`,
	)
}

func TestCaches(t *testing.T) {
	want(t, read(memctx.Snapshot{Caches: []slab.Stats{{
		Name: "nodes", InUse: 100, Objects: 1000, ObjectSize: 48, PerSlab: 10, SlabsInUse: 31, Slabs: 100,
		Cached: 20, Depot: 30, Hits: 60, Misses: 70, Frees: 80, Bytes: 90, Capacity: 95,
	}}}),
		`cache.objects ["nodes" "in_use"] 100`,
		`cache.objects ["nodes" "cached"] 20`,
		`cache.objects ["nodes" "depot"] 30`,
		`cache.objects ["nodes" "free"] 850`,
		`cache.capacity ["nodes"] 95`,
		`cache.slabs ["nodes" "in_use"] 31`,
		`cache.slabs ["nodes" "empty"] 69`,
		`cache.bytes ["nodes"] 90`,
		`cache.allocs ["nodes" "hit"] 60`,
		`cache.allocs ["nodes" "miss"] 70`,
		`cache.frees ["nodes"] 80`,
	)
}

func TestPools(t *testing.T) {
	want(t, read(memctx.Snapshot{Pools: []pool.Stats{{
		Name: "buffers", Idle: 1, InUse: -2, Bytes: 3, Max: 4, MaxBytes: 5, Hits: 6, Misses: 7, Puts: 8, Trimmed: 9,
		DroppedFull: 10, DroppedBytes: 11, DroppedPanic: 12, DroppedSize: 13, DroppedTwice: 14, DroppedWatched: 15,
	}}}),
		`pool.objects ["buffers" "in_use"] -2`,
		`pool.objects ["buffers" "idle"] 1`,
		`pool.max_objects ["buffers"] 4`,
		`pool.bytes ["buffers"] 3`,
		`pool.max_bytes ["buffers"] 5`,
		`pool.gets ["buffers" "hit"] 6`,
		`pool.gets ["buffers" "miss"] 7`,
		`pool.puts ["buffers"] 8`,
		`pool.dropped ["buffers" "full"] 10`,
		`pool.dropped ["buffers" "bytes"] 11`,
		`pool.dropped ["buffers" "size"] 13`,
		`pool.dropped ["buffers" "panic"] 12`,
		`pool.dropped ["buffers" "twice"] 14`,
		`pool.dropped ["buffers" "watched"] 15`,
		`pool.trimmed ["buffers"] 9`,
	)
}

// All reasons that Stats knows to drop an object are values of pool.dropped.
func TestDroppedReasons(t *testing.T) {
	var s pool.Stats
	fields := reflect.ValueOf(&s).Elem()
	n := 0
	for i := range fields.NumField() {
		if strings.HasPrefix(fields.Type().Field(i).Name, "Dropped") {
			n++
			fields.Field(i).SetUint(1)
		}
	}
	if got := only(read(memctx.Snapshot{Pools: []pool.Stats{s}}), "pool.dropped"); len(got) != n || uint64(n) != s.Dropped() {
		t.Errorf("%d reasons, Dropped of each once is %d, values %q", n, s.Dropped(), got)
	}
}

// Places where objects were made are no labels.
func TestLeaks(t *testing.T) {
	want(t, read(memctx.Snapshot{Leaks: []check.Finding{
		{Kind: "dropped", What: "context", Name: "request", Path: "a/request[1]", Count: 3, Stack: "here"},
		{Kind: "dropped", What: "context", Name: "request", Path: "a/request[2]", Count: 4, Stack: "there"},
		{Kind: "dropped", What: "arena", Name: "request", Count: 5},
		{Kind: "old", What: "context", Name: "request", Count: 6},
		{Kind: "stale", What: "arena", Name: "request", Type: "main.node", Count: 7, Released: "here"},
		{Kind: "stale", What: "arena", Name: "request", Type: "uint8", Count: 8, Released: "there"},
		{Kind: "stale", What: "cache", Name: "request", Type: "uint8", Count: 9},
	}}),
		`leaks ["dropped" "context" "request"] 7`,
		`leaks ["dropped" "arena" "request"] 5`,
		`leaks ["old" "context" "request"] 6`,
		`stale_pointers ["arena" "request"] 15`,
		`stale_pointers ["cache" "request"] 9`,
	)
}

// What has the same name is one, and so are names that look the same once they
// are UTF-8: peaks are the larger one, all else is added.
func TestSameName(t *testing.T) {
	got := read(memctx.Snapshot{
		Names: []memctx.NameStats{
			{Name: "a\xff", Live: 1, Usage: memctx.Usage{HighWater: 20}, Created: 3},
			{Name: "b", Live: 50, Usage: memctx.Usage{HighWater: 60}, Created: 70},
			{Name: "a\xfe\xff", Live: 10, Usage: memctx.Usage{HighWater: 5}, Created: 30},
		},
		Caches: []slab.Stats{{Name: "c", Objects: 5, InUse: 5, Hits: 1}, {Name: "c", Objects: 7, InUse: 3, Hits: 2}},
		Pools:  []pool.Stats{{Name: "p", Idle: 1, Puts: 1}, {Name: "q", Idle: 9, Puts: 9}, {Name: "p", Idle: 2, Puts: 2}},
	})
	want(t, only(got, "context.live"), `context.live ["a�"] 11`, `context.live ["b"] 50`)
	want(t, only(got, "context.high_water_bytes"), `context.high_water_bytes ["a�"] 20`, `context.high_water_bytes ["b"] 60`)
	want(t, only(got, "context.created"), `context.created ["a�"] 33`, `context.created ["b"] 70`)
	want(t, only(got, "cache.objects"), `cache.objects ["c" "in_use"] 8`, `cache.objects ["c" "cached"] 0`,
		`cache.objects ["c" "depot"] 0`, `cache.objects ["c" "free"] 4`)
	want(t, only(got, "cache.allocs"), `cache.allocs ["c" "hit"] 3`, `cache.allocs ["c" "miss"] 0`)
	want(t, only(got, "pool.puts"), `pool.puts ["p"] 3`, `pool.puts ["q"] 9`)
}

// A bound is one only if all of the name have one.
func TestBounds(t *testing.T) {
	got := read(memctx.Snapshot{
		Caches: []slab.Stats{
			{Name: "both", Capacity: 10}, {Name: "first", Capacity: 10}, {Name: "last"}, {Name: "none"},
			{Name: "both", Capacity: 7}, {Name: "first"}, {Name: "last", Capacity: 10}, {Name: "none"},
			{Name: "first", Capacity: 10},
		},
		Pools: []pool.Stats{{Name: "p", Max: 5}, {Name: "q", MaxBytes: 6}},
	})
	want(t, only(got, "cache.capacity"), `cache.capacity ["both"] 17`)
	want(t, only(got, "pool.max_objects"), `pool.max_objects ["p"] 5`)
	want(t, only(got, "pool.max_bytes"), `pool.max_bytes ["q"] 6`)
}

// Numbers that do not fit are cut, whatever was taken while others were at work.
func TestExtremes(t *testing.T) {
	got := read(memctx.Snapshot{Caches: []slab.Stats{{Name: "c", InUse: 7, Objects: 5, Hits: math.MaxUint64}}})
	want(t, only(got, "cache.objects")[3:], `cache.objects ["c" "free"] 0`)
	want(t, only(got, "cache.allocs")[:1], fmt.Sprintf(`cache.allocs ["c" "hit"] %d`, int64(math.MaxInt64)))
}

// A counter keeps what dead caches had counted until the last of the name dies.
func TestDeath(t *testing.T) {
	var now []slab.Stats
	r := &metrics.Reader{Take: func() *memctx.Snapshot { return &memctx.Snapshot{Caches: now} }}
	step := func(wantHits, wantActive int, stats ...slab.Stats) {
		t.Helper()
		now = stats
		got := lines(r)
		want(t, only(got, "cache.allocs")[:1], fmt.Sprintf(`cache.allocs ["c" "hit"] %d`, wantHits))
		want(t, only(got, "cache.objects")[:1], fmt.Sprintf(`cache.objects ["c" "in_use"] %d`, wantActive))
	}
	cache := func(hits uint64, active int) slab.Stats { return slab.Stats{Name: "c", Hits: hits, InUse: active} }
	step(1500, 3, cache(1000, 1), cache(500, 2))
	step(1501, 3, cache(1000, 1), cache(501, 2))
	step(1501, 2, cache(501, 2))               // one died
	step(1511, 2, cache(511, 2))               // the other goes on
	step(1531, 3, cache(511, 2), cache(20, 1)) // a new one
	step(1531, 1, cache(20, 1))                // another died
	step(1532, 1, cache(21, 1))
	now = nil
	want(t, lines(r))
	step(5, 1, cache(5, 1)) // the name begins anew
}

// Readings at the same time do not make each other see counters fall.
func TestParallel(t *testing.T) {
	var mu sync.Mutex
	n := uint64(0)
	r := &metrics.Reader{Take: func() *memctx.Snapshot {
		mu.Lock()
		n++
		s := &memctx.Snapshot{Caches: []slab.Stats{{Name: "c", Frees: n}}}
		mu.Unlock()
		return s
	}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 1000 {
				r.Read()
			}
		}()
	}
	wg.Wait()
	want(t, only(lines(r), "cache.frees"), `cache.frees ["c"] 4001`)
}

// The zero Reader reads the process.
func TestProcess(t *testing.T) {
	c := slab.NewCache[[64]byte](slab.Config[[64]byte]{Name: "metrics test cache"})
	p := pool.New(func() *[64]byte { return new([64]byte) }, pool.Config[[64]byte]{Name: "metrics test pool"})
	mc := memctx.New("metrics test context")
	defer mc.Delete()
	o := c.Alloc()
	p.Put(p.Get())
	var r metrics.Reader
	got := lines(&r)
	for _, line := range []string{
		`cache.objects ["metrics test cache" "in_use"] 1`,
		`pool.puts ["metrics test pool"] 1`,
		`context.live ["metrics test context"] 1`,
	} {
		if !slices.Contains(got, line) {
			t.Errorf("no value %s in\n%s", line, strings.Join(got, "\n"))
		}
	}
	c.Free(o)
}

// Every metric has values, each in the shape that the metric says, and the
// list of metrics has each once.
func TestMetrics(t *testing.T) {
	all := metrics.Metrics()
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		if m.Help == "" || m.Unit == "" || m.Subject == "" || len(m.Labels) == 0 || !strings.HasPrefix(m.Name, m.Subject) {
			t.Errorf("not described: %+v", *m)
		}
		if strings.HasSuffix(m.Name, "bytes") != (m.Unit == "By") {
			t.Errorf("%s is in %s", m.Name, m.Unit)
		}
	}
	r := &metrics.Reader{Take: func() *memctx.Snapshot {
		return &memctx.Snapshot{
			Names:  []memctx.NameStats{{Name: "\xff"}},
			Caches: []slab.Stats{{Name: "\xff", Capacity: 1}},
			Pools:  []pool.Stats{{Name: "\xff", Max: 1, MaxBytes: 1}},
			Leaks:  []check.Finding{{Kind: "\xff", What: "\xff", Name: "\xff"}, {Kind: "stale", What: "\xff", Name: "\xff"}},
		}
	}}
	var order []*metrics.Metric
	for _, v := range r.Read() {
		if !slices.Contains(order, v.Metric) {
			order = append(order, v.Metric)
		}
		if len(v.Labels) != len(v.Metric.Labels) {
			t.Errorf("%s has the labels %q, want one each of %q", v.Metric.Name, v.Labels, v.Metric.Labels)
		}
		for _, l := range v.Labels {
			if !utf8.ValidString(l) {
				t.Errorf("%s has the label %q", v.Metric.Name, l)
			}
		}
	}
	if !slices.Equal(order, all) {
		t.Errorf("values are of %v, metrics are %v", order, all)
	}
}
