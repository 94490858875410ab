package debugpage_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
)

// TestStatsRoundTrip takes stats.json apart again: programs that read it with the
// type Stats get what there was.
func TestStatsRoundTrip(t *testing.T) {
	w := get(t, debugpage.HandlerOf(fake), "GET", "/stats.json")
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || kind != "application/json" {
		t.Fatalf("status %d, type %q", w.Code, kind)
	}
	var got debugpage.Stats
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got.Snapshot, fake()) {
		t.Errorf("the snapshot is\n%+v\nwant\n%+v", got.Snapshot, *fake())
	}
	if got.Format != "haven/1" || got.Process.Go != runtime.Version() || got.Took <= 0 || len(got.History.Series) != 6 {
		t.Errorf("beside the snapshot: %+v", got)
	}
	if want := (debugpage.Totals{Contexts: 5, ContextBytes: 6 << 20, WarmBytes: 77 << 10, CacheBytes: 65536, IdleBytes: 123456, Leaks: 5}); got.Totals != want {
		t.Errorf("the totals are %+v, want %+v", got.Totals, want)
	}
}

// TestStatsFields names the fields that programs in other languages read.
func TestStatsFields(t *testing.T) {
	w := get(t, debugpage.HandlerOf(fake), "GET", "/stats.json")
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Format", "Process", "Totals", "Time", "Contexts", "Names", "Caches", "Pools", "Leaks", "Unlisted", "UnlistedBytes", "Limits", "MoreLimits", "History", "Took"} {
		if _, ok := v[name]; !ok {
			t.Errorf("there is no field %s", name)
		}
	}
	row := v["Contexts"].([]any)[1].(map[string]any)
	if row["Path"] != "server/conn[17]" || row["Age"] != 9e10 || row["Total"].(map[string]any)["Bytes"] != float64(4<<20) {
		t.Errorf("a row is %v", row)
	}
	if w := get(t, debugpage.HandlerOf(func() *memctx.Snapshot { return new(memctx.Snapshot) }), "GET", "/stats.json"); strings.Contains(w.Body.String(), "null") {
		t.Errorf("of nothing there is %s", w.Body)
	}
}

// TestListAtMost prunes random trees. What stays are the largest, they are a tree,
// and no byte and no child is lost.
func TestListAtMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		all := randomTree(r, 1+r.IntN(120))
		n := 1 + r.IntN(len(all)+3)
		kept := debugpage.ListAtMost(n, all)
		if len(kept) != min(n, len(all)) {
			t.Fatalf("%d of %d rows, want %d", len(kept), len(all), n)
		}
		least, dropped := math.MaxInt, map[string]memctx.Row{}
		for _, x := range all {
			dropped[x.Path] = x
		}
		listed, bytes := map[string]int{}, map[string]int{}
		depth := -1
		for _, x := range kept {
			if x.Depth > depth+1 {
				t.Fatalf("%s is without its parent", x.Path)
			}
			depth = x.Depth
			least = min(least, x.Total.Bytes)
			delete(dropped, x.Path)
			parent := x.Path[:max(strings.LastIndexByte(x.Path, '/'), 0)]
			listed[parent]++
			bytes[parent] += x.Total.Bytes
		}
		for _, x := range dropped {
			if x.Total.Bytes > least {
				t.Fatalf("%s with %d bytes went, while one with %d stayed", x.Path, x.Total.Bytes, least)
			}
		}
		for _, x := range kept {
			if listed[x.Path]+x.More != x.Children || x.Own.Bytes+bytes[x.Path]+x.MoreBytes != x.Total.Bytes {
				t.Fatalf("%s: %d listed, %d more of %d children; %d bytes its own, %d listed, %d more of %d",
					x.Path, listed[x.Path], x.More, x.Children, x.Own.Bytes, bytes[x.Path], x.MoreBytes, x.Total.Bytes)
			}
		}
	}
}

// TestListAtMostGroups keeps what stands beside a group, before what is in it.
func TestListAtMostGroups(t *testing.T) {
	group := row(0, "request", "", 0, 300)
	group.Siblings, group.Children = 3, 3
	inner := row(2, "item", "", 0, 90)
	inner.Siblings, inner.Children = 9, 9
	all := []memctx.Row{group, row(1, "request", "1", 10, 100), inner, row(3, "item", "", 90, 90), row(1, "request", "2", 200, 200),
		row(0, "small", "", 1, 2), row(1, "below", "", 1, 1)}
	kept := debugpage.ListAtMost(4, all)
	if len(kept) != 4 || kept[0].More != 1 || kept[0].MoreBytes != 100 || kept[1].Ident != "2" || kept[2].Name != "small" || kept[3].Name != "below" {
		t.Errorf("%+v", kept)
	}
	if kept = debugpage.ListAtMost(5, all); len(kept) != 5 || kept[1].Ident != "1" || kept[1].More != 9 {
		t.Errorf("%+v", kept)
	}
}

// randomTree returns the rows of a forest, with some that more children than are
// listed.
func randomTree(r *rand.Rand, n int) []memctx.Row {
	var rows []memctx.Row
	var add func(depth int, path string) int
	add = func(depth int, path string) int {
		at := len(rows)
		rows = append(rows, row(depth, "x", "", r.IntN(4)*r.IntN(3), 0))
		rows[at].Path = path
		total := rows[at].Own.Bytes
		for k := range r.IntN(4) {
			if len(rows) < n && depth < 6 {
				total += add(depth+1, path+"/"+string(rune('a'+k)))
				rows[at].Children++
			}
		}
		if r.IntN(5) == 0 {
			more, bytes := 1+r.IntN(3), r.IntN(3)
			rows[at].More, rows[at].MoreBytes = more, bytes
			rows[at].Children += more
			total += bytes
		}
		rows[at].Total.Bytes = total
		return total
	}
	for k := 0; len(rows) < n; k++ {
		add(0, string(rune('A'+k)))
	}
	return rows
}

// TestStatsMany is a program with a hundred thousand contexts, and one with more
// roots than are listed.
func TestStatsMany(t *testing.T) {
	s := debugpage.Collect(many(100, 1000))
	if len(s.Contexts) != debugpage.MaxRows || s.Totals.Contexts != 100_100 || s.Unlisted+unlistedBelow(s) != 100_100-debugpage.MaxRows {
		t.Errorf("%d rows of %d, %d unlisted", len(s.Contexts), s.Totals.Contexts, s.Unlisted)
	}
	text, err := json.Marshal(s)
	if err != nil || len(text) > 1<<20 {
		t.Errorf("%d bytes of JSON, %v", len(text), err)
	}

	s = debugpage.Collect(many(5000, 0))
	if len(s.Contexts) != debugpage.MaxRows || s.Unlisted != 3000 {
		t.Errorf("%d rows, %d unlisted", len(s.Contexts), s.Unlisted)
	}
	in := many(500, 3)
	s = debugpage.Collect(in)
	if s.Unlisted != 0 || s.UnlistedBytes != 0 {
		t.Errorf("%d unlisted with %d bytes", s.Unlisted, s.UnlistedBytes)
	}
	in.Contexts = in.Contexts[4:] // the first root is not in the list
	s = debugpage.Collect(in)
	if s.Unlisted != 4 || s.UnlistedBytes != 3 {
		t.Errorf("%d unlisted with %d bytes, want 4 and 3", s.Unlisted, s.UnlistedBytes)
	}
}

// unlistedBelow returns how many children are not listed, which have none.
func unlistedBelow(s *debugpage.Stats) (n int) {
	for _, r := range s.Contexts {
		n += r.More
	}
	return n
}

func TestProcess(t *testing.T) {
	p := debugpage.Collect(new(memctx.Snapshot)).Process
	if p.Heap == 0 || p.HeapGoal == 0 || p.Mapped < p.Heap || p.Mapped > 1<<40 || p.Goroutines < 1 || p.Procs < 1 || p.PID == 0 ||
		p.Program == "" || p.Uptime <= 0 || p.GCCPU < 0 || p.GCCPU > 1 {
		t.Errorf("%+v", p)
	}
}

func TestFraction(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][3]float64{{1, 4, 0.25}, {0, 4, 0}, {1, 0, 0}, {0, 0, 0}, {5, 4, 1}, {-1, 4, 0}, {1, -4, 0}, {nan, 1, 0}, {1, nan, 0}, {1, inf, 0}} {
		if got := debugpage.Fraction(c[0], c[1]); got != c[2] {
			t.Errorf("%v of %v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
