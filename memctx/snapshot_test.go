package memctx_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// rowsOf returns the rows of a snapshot from the root with that name on.
func rowsOf(t testing.TB, name string) []memctx.Row {
	t.Helper()
	rows := memctx.TakeSnapshot().Contexts
	i := slices.IndexFunc(rows, func(r memctx.Row) bool { return r.Depth == 0 && r.Name == name })
	if i < 0 {
		t.Fatalf("no root %q in %d rows", name, len(rows))
	}
	rows = rows[i:]
	for k, r := range rows[1:] {
		if r.Depth == 0 {
			return rows[:k+1]
		}
	}
	return rows
}

// checkRows fails the test unless rows are a tree whose numbers add up, with those
// that are not listed.
func checkRows(t testing.TB, rows []memctx.Row) {
	t.Helper()
	type sums struct{ children, contexts, bytes, chunks, more int }
	got := make([]sums, len(rows))
	var way []int
	for i, r := range rows {
		if r.Depth > len(way) {
			t.Fatalf("row %d, %s, is %d deep, below %d", i, r.Path, r.Depth, len(way))
		}
		way = append(way[:r.Depth], i)
		got[i].contexts++
		got[i].bytes += r.Own.Bytes + r.MoreBytes
		got[i].chunks += r.Own.Chunks
		got[i].children += r.More
		got[i].more += r.More
		if r.Depth > 0 {
			up := way[r.Depth-1]
			got[up].children += max(r.Siblings, 1)
			below := rows[up].Path + "/"
			if rows[up].Siblings > 0 {
				below = rows[up].Path
			}
			if r.Name != "" && !strings.HasPrefix(r.Path, below) && r.Depth < 30 {
				t.Errorf("path %s below %s", r.Path, rows[up].Path)
			}
		}
		if r.Siblings > 0 { // not a context itself
			got[i].contexts--
			if r.Siblings != r.Children || r.Own != (memctx.Usage{}) || r.Age <= 0 || i+1 < len(rows) && rows[i+1].Created.Before(r.Created) {
				t.Errorf("a group: %+v", r)
			}
		}
		if r.Total.Bytes < r.Own.Bytes || r.Total.HighWater < r.Total.Bytes || r.Own.HighWater < r.Own.Bytes {
			t.Errorf("%+v", r)
		}
	}
	for i := len(rows) - 1; i >= 0; i-- {
		r, s := rows[i], got[i]
		if r.Children != s.children || r.Total.Bytes != s.bytes || s.more == 0 && (r.Contexts != s.contexts || r.Total.Chunks != s.chunks) {
			t.Errorf("row %d, %s, does not add up: %+v, want %+v", i, r.Path, r, s)
		}
		for up := i - 1; up >= 0 && r.Depth > 0; up-- {
			if rows[up].Depth == r.Depth-1 {
				got[up].contexts += r.Contexts
				got[up].bytes += r.Total.Bytes
				got[up].chunks += r.Total.Chunks
				got[up].more += s.more
				break
			}
		}
	}
}

// In any tree the numbers of each context are its own and those of its children.
func TestSnapshotAddsUp(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		all := []*memctx.Context{memctx.New("random")}
		for range rng.IntN(400) {
			var conf memctx.Config
			if rng.IntN(4) == 0 {
				conf.Limit = 1 << 30
				conf.Ident = fmt.Sprint(rng.IntN(9))
			}
			c := all[rng.IntN(len(all))].Child("random", conf)
			all = append(all, c)
			for range rng.IntN(5) {
				arena.MakeSlice[byte](c.Arena(), 0, 1+rng.IntN(3000))
			}
		}
		rows := rowsOf(t, "random")
		checkRows(t, rows)
		total := all[0].Stats().Total
		n := namesOf(t, "random")
		if rows[0].Total != total || n.Bytes != total.Bytes || n.Chunks != total.Chunks || n.Live != len(all) {
			t.Errorf("rows say %+v, Stats %+v, Names %v", rows[0].Total, total, n)
		}
		for _, c := range all {
			if s := c.Stats(); s.Limit > 0 && s.Total.Bytes != memctx.Taken(c) {
				t.Errorf("%v, the ledger counts %d", s, memctx.Taken(c))
			}
		}
		all[0].Delete()
		if t.Failed() {
			return
		}
	}
}

// Many children of one name are a group, of which a hundred are listed, those with
// most bytes in front.
func TestSnapshotOfManyChildren(t *testing.T) {
	root := memctx.New("many root")
	defer root.Delete()
	fill(t, root.Child("single"), 10)
	hidden, all := 0, 0
	for i := range 250 {
		c := root.Child("many", memctx.Config{Ident: fmt.Sprint(i)})
		size := 500 + i*1009%250 // each once
		fill(t, c.Child("many below"), size)
		all += size
		if size < 500+150 {
			hidden += size
		}
	}
	rows := rowsOf(t, "many root")
	checkRows(t, rows)
	if len(rows) != 203 || rows[0].More != 0 || rows[0].Children != 251 || rows[0].Contexts != 502 || rows[1].Name != "single" || rows[1].Depth != 1 {
		t.Errorf("%d rows, the first %+v", len(rows), rows[0])
	}
	g := rows[2]
	if g.Path != "many root/many" || g.Siblings != 250 || g.Contexts != 500 || g.Total.Bytes != all || g.More != 150 || g.MoreBytes != hidden {
		t.Errorf("the group is %+v; %d bytes of %d are hidden", g, hidden, all)
	}
	last := 1 << 30
	for _, r := range rows[3:] {
		if r.Depth == 2 && r.Total.Bytes > last {
			t.Errorf("%s with %d bytes comes behind one with %d", r.Path, r.Total.Bytes, last)
		}
		if last = r.Total.Bytes; last < 500+150 {
			t.Errorf("%s with %d bytes is listed", r.Path, last)
		}
	}
}

// Few of a name are no group, and nothing is put in another order.
func TestSnapshotOfFewChildren(t *testing.T) {
	root := memctx.New("few root")
	defer root.Delete()
	for i := range 8 {
		fill(t, root.Child("few", memctx.Config{Ident: fmt.Sprint(i)}), 500+i)
	}
	rows := rowsOf(t, "few root")
	if len(rows) != 9 || rows[1].Ident != "0" || rows[8].Ident != "7" {
		t.Errorf("%d rows: %+v", len(rows), rows)
	}
	root.Child("few")
	if rows = rowsOf(t, "few root"); len(rows) != 11 || rows[1].Siblings != 9 || rows[2].Ident != "7" {
		t.Errorf("of one more: %d rows, %+v", len(rows), rows[1])
	}
	// Where the names do not fit, two are a group.
	root.Reset()
	for i := range 60 {
		root.Child(fmt.Sprint("few ", i))
		root.Child(fmt.Sprint("few ", i))
	}
	rows = rowsOf(t, "few root")
	checkRows(t, rows)
	if len(rows) != 181 || rows[0].More != 0 || rows[1].Siblings != 2 {
		t.Errorf("of 60 names %d rows, the first %+v", len(rows), rows[0])
	}
}

// Of more than a hundred names those with most bytes are listed, and the others are
// counted.
func TestSnapshotOfManyNames(t *testing.T) {
	root := memctx.New("names root")
	defer root.Delete()
	hidden := 0
	for i := range 130 {
		fill(t, root.Child(fmt.Sprint("name ", i)), 500+i)
		if i < 30 {
			hidden += 500 + i
		}
	}
	rows := rowsOf(t, "names root")
	checkRows(t, rows)
	if len(rows) != 101 || rows[0].More != 30 || rows[0].MoreBytes != hidden || rows[1].Name != "name 129" {
		t.Errorf("%d rows, the first %+v; %d bytes are hidden", len(rows), rows[0], hidden)
	}
}

// No more than 10,000 are listed; the others are counted where they are. What
// stands beside large groups is always among them.
func TestSnapshotBounded(t *testing.T) {
	root := memctx.New("bounded")
	defer root.Delete()
	for range 90 {
		a := root.Child("bounded")
		for range 90 {
			b := a.Child("bounded")
			b.Child("bounded")
			arena.New[int](b.Child("bounded").Arena())
		}
	}
	root.Child("beside").Child("below")
	rows := rowsOf(t, "bounded")
	checkRows(t, rows)
	if len(rows) != memctx.ListRows || rows[0].Contexts != 3+90+90*90*3 {
		t.Errorf("%d rows, the first %+v", len(rows), rows[0])
	}
	if last := rows[len(rows)-2:]; last[0].Name != "beside" || last[1].Name != "below" {
		t.Errorf("the last are %v and %v", last[0].Stats, last[1].Stats)
	}
	more := 0
	for _, r := range rows {
		more += r.More
	}
	if more == 0 {
		t.Error("nobody says that some are left out")
	}
}

// Of the roots those with most bytes are listed, too; Names counts all.
func TestSnapshotOfManyRoots(t *testing.T) {
	var all []*memctx.Context
	for i := range 150 {
		c := memctx.New("many roots")
		if i == 149 {
			arena.New[int](c.Arena())
		}
		all = append(all, c)
	}
	other := memctx.New("another root")
	s := memctx.TakeSnapshot()
	if len(s.Contexts) != 102 || s.Contexts[0].Siblings != 150 || s.Contexts[0].Path != "many roots" || s.Contexts[1].Own.Bytes == 0 || s.Contexts[101].Name != "another root" {
		t.Errorf("%d rows, the first %+v", len(s.Contexts), s.Contexts[0])
	}
	if n := namesOf(t, "many roots"); n.Live != 150 {
		t.Errorf("%v", n)
	}
	for _, c := range append(all, other) {
		c.Delete()
	}
}

// The paths of a deep tree are bounded, in a part of it as well.
func TestSnapshotPaths(t *testing.T) {
	list := chain(200)
	defer list[0].Delete()
	rows := rowsOf(t, "chain")
	for i, c := range list {
		if p := c.Path(); rows[i].Path != p || strings.Count(p, "/") > 32 {
			t.Errorf("level %d has path %s, and %s in a snapshot", i, p, rows[i].Path)
		}
	}
	if p := list[31].Path(); strings.Count(p, "/level") != 31 || strings.Contains(p, "…") {
		t.Errorf("path %s", p)
	}
	if p := list[32].Path(); p != "chain"+strings.Repeat("/level", 7)+"/…"+strings.Repeat("/level", 24) {
		t.Errorf("path %s", p)
	}
	for _, from := range []int{0, 1, 7, 8, 31, 32, 33, 150} {
		var b strings.Builder
		if err := memctx.WriteReport(&b, memctx.ReportOptions{Of: list[from], Ranked: 1000}); err != nil {
			t.Fatal(err)
		}
		_, ranking, _ := strings.Cut(b.String(), "by bytes\n")
		if line, _, _ := strings.Cut(ranking, "\n"); strings.TrimSpace(line) != "0 "+list[from].Path() {
			t.Errorf("a report from level %d on begins with %q, want %s", from, line, list[from].Path())
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if strings.Count(line, "level") > 80 || strings.HasPrefix(line, strings.Repeat(" ", 66)) {
				t.Errorf("level %d: a long line %q", from, line)
			}
		}
	}
}

// The peak of a context is that of its arena; below a limit that of the subtree.
func TestPeaks(t *testing.T) {
	root := memctx.New("peaks", memctx.Config{Limit: 1 << 20})
	defer root.Delete()
	a, b := root.Child("peaks"), root.Child("peaks")
	fill(t, a, 50_000)
	a.Reset()
	a.Arena().Trim(0)
	fill(t, b, 30_000)
	if s := root.Stats(); s.Total.HighWater != 50_000 || s.Total.Bytes != 30_000 || s.Own.HighWater != 0 {
		t.Errorf("%v", s)
	}
	if s := a.Stats(); s.Own.HighWater != 50_000 || s.Own.Bytes != 0 {
		t.Errorf("%v", s)
	}
	a.Delete()
	b.Delete()
	if n := namesOf(t, "peaks"); n.HighWater != 50_000 {
		t.Errorf("%v", n)
	}
	if s := root.Stats(); s.Total.HighWater != 50_000 {
		t.Errorf("%v", s)
	}
	left := root.Child("peaks left")
	fill(t, left, 70_000)
	left.Abandon()
	if n := namesOf(t, "peaks left"); n.HighWater != 70_000 {
		t.Errorf("%v", n)
	}
}
