package top

import (
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got += "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("output differs from %s (run with -update and look at the diff)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// evil is a name that would clear the screen, set the window's title and turn the
// direction of text.
const evil = "\x1b[2J\x1b]0;owned\a\u202etxet\u009b31m"

// fixedStats is a page with something for every view.
func fixedStats() *debugpage.Stats {
	context := func(depth int, name, ident, path string, own, total, limit int, age time.Duration) memctx.Row {
		return memctx.Row{Depth: depth, Stats: memctx.Stats{
			Name: name, Ident: ident, Path: path,
			Own:   memctx.Usage{Bytes: own, Chunks: own/4096 + 1, HighWater: own + 1000},
			Total: memctx.Usage{Bytes: total, Chunks: total/4096 + 2, HighWater: total + 5000},
			Limit: limit, Contexts: 1, Age: age, Created: noon.Add(-age),
		}}
	}
	s := &debugpage.Stats{
		Format: debugpage.Format,
		Process: debugpage.Process{
			Program: "gateway", PID: 4711, Go: "go1.26.8", OS: "linux", Arch: "amd64", Uptime: 3*time.Hour + 12*time.Minute, Procs: 8,
			Goroutines: 312, Heap: 123 << 20, HeapGoal: 200 << 20, Mapped: 250 << 20, MemoryLimit: 1 << 30, GCCycles: 99, GCCPU: 0.01299,
		},
		Totals: debugpage.Totals{Contexts: 1240, ContextBytes: 3_333_333, WarmBytes: 70_000, CacheBytes: 1 << 20, IdleBytes: 4096, Leaks: 37},
		Snapshot: memctx.Snapshot{
			Time: noon,
			Contexts: []memctx.Row{
				context(0, "cache", "", "cache", 1_000_000, 1_000_000, 0, 2*time.Hour),
				context(0, "server", "", "server", 300, 2_300_300, 64<<20, 3*time.Hour),
				context(1, "conn", "17", "server/conn[17]", 1000, 301_000, 310_000, 90*time.Second),
				context(2, "request", "", "server/conn[17]/request", 300_000, 300_000, 0, 300*time.Millisecond),
				context(1, "conn", "18", "server/conn[18]", 2_000, 1_999_000, 4<<20, 40*24*time.Hour),
				context(2, "request", "POST /import", "server/conn[18]/request[POST /import]", 1_997_000, 1_997_000, 0, 5*time.Minute),
				context(1, evil, "", "server/"+evil, 5, 5, 0, 0),
				context(1, "名前", "とても長い識別子、画面の幅には収まらない、本当に収まらない、三百桁あっても", "server/名前[とても長い識別子、画面の幅には収まらない、本当に収まらない、三百桁あっても]", 295, 295, 0, time.Second),
			},
			Names: []memctx.NameStats{
				{Name: "request", Live: 2, Held: 1, Usage: memctx.Usage{Bytes: 2_297_000, Chunks: 9, HighWater: 2 << 20}, Created: 123456789, Deleted: 123456780, Abandoned: 4, Dropped: 3, LimitErrors: 12, Warm: arena.PoolStats{Idle: 2, Reserved: 65536, Gets: 200, Hits: 199, Misses: 1, Puts: 190}},
				{Name: "conn", Live: 2, Usage: memctx.Usage{Bytes: 3000, Chunks: 2, HighWater: 2000}, Created: 40, Deleted: 38},
				{Name: evil, Live: 1, Usage: memctx.Usage{Bytes: 5, Chunks: 1, HighWater: 5}, Created: 1},
			},
			Caches: []slab.Stats{
				{Name: "nodes", InUse: 4300, Objects: 4774, ObjectSize: 48, PerSlab: 682, SlabsInUse: 7, Slabs: 7, Magazines: 3, Cached: 20, Depot: 64, Hits: 9_999, Misses: 1, Frees: 200, Bytes: 229_376, Capacity: 5000},
				{Name: "sessions", InUse: 30, Objects: 128, ObjectSize: 6400, PerSlab: 128, SlabsInUse: 1, Slabs: 1, Bytes: 819_200},
			},
			Pools: []pool.Stats{
				{Name: "encoders", Type: "*json.Encoder", Idle: 4, InUse: 2, HighWater: 9, Bytes: 1024, Max: 64, Floor: 2, Hits: 3, Misses: 9, Puts: 10, Trimmed: 4, DroppedFull: 1, DroppedTwice: 1},
				{Name: "buffers", Type: "*[]uint8", Idle: 3, InUse: 1, HighWater: 5, Bytes: 3072, MaxBytes: 3500, Hits: 90, Misses: 10, Puts: 99, Classes: []pool.ClassStats{
					{Size: 512, Idle: 2, Hits: 50, Misses: 5, Puts: 55}, {Size: 2048, Idle: 1, InUse: 1, Hits: 40, Misses: 5, Puts: 44, Dropped: 2, Trimmed: 1},
				}},
			},
			Leaks: []check.Finding{
				{Kind: "dropped", What: "context", Name: "batch", Path: "batch", Count: 17, Bytes: 4096, Age: 90 * time.Minute, Stack: "main.importAll(...)\n\t/src/gateway/import.go:42\nmain.main()\n\t/src/gateway/main.go:9\n"},
				{Kind: "old", What: "arena", Name: evil, Count: 18, Age: time.Hour},
				{Kind: "stale", What: "bump arena", Count: 2, Bytes: 512, Age: time.Minute, Type: evil, Chunks: 1, Released: "main.reply(...)\n\t/src/gateway/reply.go:7\n", Stack: "main.main()\n\t/src/gateway/main.go:9\n"},
			},
		},
		Unlisted: 7, UnlistedBytes: 33_333,
		Limits: []debugpage.Limit{
			{Kind: "context", Name: "server/conn[17]", Unit: "bytes", Used: 301_000, Limit: 310_000},
			{Kind: "pool", Name: "buffers", Unit: "bytes", Used: 3072, Limit: 3500},
			{Kind: "cache", Name: "nodes", Unit: "objects", Used: 4300, Limit: 5000},
			{Kind: "context", Name: "server/" + evil, Unit: "bytes", Used: 600, Limit: 1000, Siblings: 30, Members: []debugpage.Limit{
				{Kind: "context", Name: "server/" + evil + "[1]", Unit: "bytes", Used: 600, Limit: 1000},
				{Kind: "context", Name: "server/" + evil + "[2]", Unit: "bytes", Used: 900, Limit: 2000},
				{Kind: "context", Name: "server/" + evil + "[3]", Unit: "bytes", Used: 100, Limit: 1000},
				{Kind: "context", Name: "server/" + evil + "[4]", Unit: "bytes", Used: 99, Limit: 1000},
			}},
			{Kind: "context", Name: "server/conn[18]", Unit: "bytes", Used: 1_999_000, Limit: 4 << 20, Reserve: 1 << 20},
			{Kind: "process", Name: "GOMEMLIMIT", Unit: "bytes", Used: 250 << 20, Limit: 1 << 30},
			{Kind: "pool", Name: "encoders", Unit: "objects", Used: 4, Limit: 64},
			{Kind: "context", Name: "server", Unit: "bytes", Used: 2_300_300, Limit: 64 << 20},
		},
		MoreLimits: 5,
	}
	c := s.Contexts
	c[1].Children, c[1].Contexts, c[1].More, c[1].MoreBytes = 1230, 1232, 1226, 0
	c[5].Deleted, c[5].Leases, c[5].Resets = true, 1, 3
	c[2].Contexts, c[4].Contexts, c[4].Reserve = 2, 2, 1<<20
	return s
}

func fixedReading(t *testing.T) *reading {
	t.Helper()
	s := fixedStats()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return &reading{stats: s, json: text, at: noon}
}

// fixedState is a screen that was just opened.
func fixedState(t *testing.T) *state {
	t.Helper()
	u, err := url.Parse("http://localhost:6060/debug/haven/stats.json")
	if err != nil {
		t.Fatal(err)
	}
	s := newState(options{url: u, view: treeView, sort: "bytes"})
	s.last, s.now = fixedReading(t), noon
	return s
}
