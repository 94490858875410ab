package top

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
)

func TestScreens(t *testing.T) {
	for _, v := range views {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			s := fixedState(t)
			s.show(v)
			name := fmt.Sprintf("%s-%dx%d", v.name, size[0], size[1])
			t.Run(name, func(t *testing.T) { golden(t, name, visible(draw(s, size[0], size[1]))) })
		}
	}
}

// visible makes styles something that can be read in a file, and marks the ends
// of lines.
func visible(screen string) string {
	for st, name := range map[style]string{bold: "{bold}", reverse: "{reverse}", dim: "{dim}", red: "{red}", yellow: "{yellow}", reset: "{}"} {
		screen = strings.ReplaceAll(screen, string(st), name)
	}
	return strings.ReplaceAll(screen, "\n", "$\n") + "$"
}

func TestScreenStates(t *testing.T) {
	for name, change := range map[string]func(s *state){
		"help":    func(s *state) { s.help = true },
		"paused":  func(s *state) { s.paused = true },
		"message": func(s *state) { s.view = poolsView; s.press('a', 10, 3) },
		"scrolled": func(s *state) {
			s.view, s.offset = contextsView, 3
		},
		"failed": func(s *state) {
			s.fail, s.now, s.colour = "no answer from http://localhost:6060: connection refused", noon.Add(83*time.Second), true
		},
		"late":  func(s *state) { s.late, s.now = true, noon.Add(3456*time.Millisecond) },
		"few":   func(s *state) { s.most = 2 },
		"empty": func(s *state) { s.view = poolsView; s.last.stats.Pools, s.last.stats.Totals.Leaks = nil, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := fixedState(t)
			change(s)
			golden(t, "state-"+name, visible(draw(s, 80, 16)))
		})
	}
}

func TestPlainPages(t *testing.T) {
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			s := fixedState(t)
			s.show(v)
			golden(t, "page-"+v.name, page(s, 0))
		})
	}
	s := fixedState(t)
	s.most = 3
	golden(t, "page-narrow", page(s, 60))
}

// sequences are those that a drawing may have in it.
var sequences = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestScreenFits draws every view at every small size.
func TestScreenFits(t *testing.T) {
	s := fixedState(t)
	s.colour = true
	for _, v := range views {
		for _, help := range []bool{false, true} {
			s.show(v)
			s.help = help
			for width := range 130 {
				for _, height := range []int{0, 1, 2, 3, 5, fullHeight - 1, fullHeight, 24} {
					screen := draw(s, width, height)
					lines := strings.Split(screen, "\n")
					if height > 0 && len(lines) != height || height == 0 && screen != "" {
						t.Fatalf("%s at %dx%d: %d lines", v.name, width, height, len(lines))
					}
					for _, line := range lines {
						text := sequences.ReplaceAllString(line, "")
						if cells(text) > width {
							t.Fatalf("%s at %dx%d: line of %d cells: %q", v.name, width, height, cells(text), line)
						}
						if !shown(text) {
							t.Fatalf("%s at %dx%d: a terminal acts upon %q", v.name, width, height, line)
						}
					}
				}
			}
		}
	}
}

func TestNoColour(t *testing.T) {
	colour := regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]`)
	s := fixedState(t)
	s.fail = "wrong"
	s.now = noon
	if screen := draw(s, 80, 24); colour.MatchString(screen) {
		t.Errorf("colour in %q", screen)
	}
	s.colour = true
	if screen := draw(s, 80, 24); len(colour.FindAllString(screen, -1)) < 2 {
		t.Errorf("no red message and no yellow row in %q", screen)
	}
}

// TestSortOrders sorts every view by every key.
func TestSortOrders(t *testing.T) {
	names := func(v *view, sort string) []string {
		var list []string
		for _, r := range v.table(fixedStats(), sort).rows {
			if r.cells != nil && r.indent == 0 {
				list = append(list, r.name)
			}
		}
		return list
	}
	for _, tc := range []struct {
		view  *view
		sort  string
		first []string
	}{
		{treeView, "bytes", []string{"server", "cache"}},
		{treeView, "own", []string{"cache", "server"}},
		{treeView, "high", []string{"server", "cache"}},
		{treeView, "chunks", []string{"server", "cache"}},
		{treeView, "age", []string{"server", "cache"}},
		{treeView, "name", []string{"cache", "server"}},
		{contextsView, "bytes", []string{"server/conn[18]/request[POST /import]", "cache", "server/conn[17]/request"}},
		{contextsView, "total", []string{"server", "server/conn[18]", "server/conn[18]/request[POST /import]"}},
		{contextsView, "high", []string{"server/conn[18]/request[POST /import]", "cache", "server/conn[17]/request"}},
		{contextsView, "chunks", []string{"server/conn[18]/request[POST /import]", "cache", "server/conn[17]/request"}},
		{contextsView, "age", []string{"server/conn[18]", "server", "cache"}},
		{contextsView, "name", []string{"cache", "server", `"server/\x1b`}},
		{namesView, "bytes", []string{"request", "conn"}},
		{namesView, "high", []string{"request", "conn"}},
		{namesView, "live", []string{"request", "conn"}},
		{namesView, "created", []string{"request", "conn"}},
		{namesView, "errors", []string{"request", "conn"}},
		{namesView, "name", []string{`"\x1b`, "conn", "request"}},
		{limitsView, "full", []string{"server/conn[17]", "buffers", "nodes", `"server/\x1b`}},
		{limitsView, "name", []string{"GOMEMLIMIT", "buffers", "encoders", "nodes", "server"}},
		{cachesView, "bytes", []string{"sessions", "nodes"}},
		{cachesView, "inuse", []string{"nodes", "sessions"}},
		{cachesView, "objects", []string{"nodes", "sessions"}},
		{cachesView, "slabs", []string{"nodes", "sessions"}},
		{cachesView, "misses", []string{"nodes", "sessions"}},
		{cachesView, "name", []string{"nodes", "sessions"}},
		{poolsView, "bytes", []string{"buffers of", "encoders of"}},
		{poolsView, "idle", []string{"encoders of", "buffers of"}},
		{poolsView, "inuse", []string{"encoders of", "buffers of"}},
		{poolsView, "misses", []string{"buffers of", "encoders of"}},
		{poolsView, "dropped", []string{"encoders of", "buffers of"}},
		{poolsView, "name", []string{"buffers of", "encoders of"}},
		{leaksView, "count", []string{`"\x1b`, "batch"}},
		{leaksView, "bytes", []string{"batch", `""`, `"\x1b`}},
		{leaksView, "age", []string{"batch", `"\x1b`}},
		{leaksView, "name", []string{`""`, `"\x1b`, "batch"}},
	} {
		got := names(tc.view, tc.sort)
		if len(got) < len(tc.first) || !slices.EqualFunc(got[:len(tc.first)], tc.first, strings.HasPrefix) {
			t.Errorf("%s by %s: %q, want %q first", tc.view.name, tc.sort, got, tc.first)
		}
	}
	for _, v := range views {
		for _, sort := range v.sorts {
			if n := len(names(v, sort)); n == 0 {
				t.Errorf("%s by %s: no rows", v.name, sort)
			}
		}
	}
}

// TestTreeOrder checks that children stay with their parents in every order, and
// that depths that make no tree do no harm.
func TestTreeOrder(t *testing.T) {
	tree := func(sort string) string {
		var b strings.Builder
		for _, r := range treeTable(fixedStats(), sort).rows {
			fmt.Fprintf(&b, "%s%.8s ", strings.Repeat(">", r.indent), r.name)
		}
		return b.String()
	}
	for sort, want := range map[string]string{
		"bytes": "server >conn[18] >>request[ >conn[17] >>request >名前[とても長い >\"\\x1b[2J >… 1226 m cache … 7 more ",
		"age":   "server >conn[18] >>request[ >conn[17] >>request >名前[とても長い >\"\\x1b[2J >… 1226 m cache … 7 more ",
		"name":  "cache server >\"\\x1b[2J >conn[17] >>request >conn[18] >>request[ >名前[とても長い >… 1226 m … 7 more ",
		"own":   "cache server >conn[18] >>request[ >conn[17] >>request >名前[とても長い >\"\\x1b[2J >… 1226 m … 7 more ",
	} {
		if got := tree(sort); got != want {
			t.Errorf("by %s:\n%s, want\n%s", sort, got, want)
		}
	}
	s := fixedStats()
	for i, depth := range []int{5, -3, 9, 9, 1 << 30, -1 << 30, 1, 0} {
		s.Contexts[i].Depth = depth
	}
	rows := 0
	for _, r := range treeTable(s, "bytes").rows {
		if r.cells != nil {
			rows++
		}
	}
	if rows != len(s.Contexts) {
		t.Errorf("%d rows of %d contexts whose depths make no tree", rows, len(s.Contexts))
	}
}

// TestTreeGroups lists the first few of a group.
func TestTreeGroups(t *testing.T) {
	s := fixedStats()
	group := memctx.Row{Stats: memctx.Stats{Name: "job", Path: "job", Contexts: 95, Age: time.Hour, Total: memctx.Usage{Bytes: 900 << 10}},
		Siblings: 90, More: 85, MoreBytes: 50 << 10}
	s.Contexts = []memctx.Row{group}
	for i := range 5 {
		used := (300 - 50*i) << 10
		s.Contexts = append(s.Contexts, memctx.Row{Depth: 1, Stats: memctx.Stats{Name: "job", Ident: fmt.Sprint(4 - i), Path: fmt.Sprintf("job[%d]", 4-i),
			Own: memctx.Usage{Bytes: used}, Total: memctx.Usage{Bytes: used}}})
	}
	s.Totals.Contexts = 95
	for sort, want := range map[string]string{
		"bytes": "job ×90|>job[4]|>job[3]|>job[2]|>… 87 more with 300K|… 7 more with 32.6K|",
		"name":  "job ×90|>job[0]|>job[1]|>job[2]|>… 87 more with 600K|… 7 more with 32.6K|",
	} {
		got := ""
		for _, r := range treeTable(s, sort).rows {
			got += strings.Repeat(">", r.indent) + r.name + r.note + "|"
		}
		if got != want {
			t.Errorf("by %s: %s\nwant %s", sort, got, want)
		}
	}
	if cells := treeTable(s, "bytes").rows[0].cells; cells[0] != "900K" || cells[1] != "" {
		t.Errorf("the group has %q", cells)
	}
	rows := rankedTable(s, "bytes").rows
	if len(rows) != 6 || rows[0].name != "job[4]" || rows[5].name != "… 90 not listed" {
		t.Errorf("ranked: %v", rows)
	}
}

// TestLimitsFolded counts the limits that are not half used.
func TestLimitsFolded(t *testing.T) {
	last := func(s *debugpage.Stats, sort string) string {
		rows := limitsTable(s, sort).rows
		return rows[len(rows)-1].name
	}
	s := fixedStats()
	for sort, want := range map[string]string{"full": "… 9 more, all below 50%", "name": "… 5 more"} {
		if got := last(s, sort); got != want {
			t.Errorf("by %s: %q, want %q", sort, got, want)
		}
	}
	s.Limits = s.Limits[:3]
	if got := last(s, "full"); got != "… 5 more" { // which may be half used
		t.Errorf("of those that are half used: %q", got)
	}
	s.MoreLimits = 0
	if got := last(s, "full"); got != "nodes" {
		t.Errorf("of all: %q", got)
	}
}

// TestDeepTree checks that names can be seen however far they are indented.
func TestDeepTree(t *testing.T) {
	s := fixedState(t)
	s.last.stats.Contexts = nil
	for depth := range 50 {
		s.last.stats.Contexts = append(s.last.stats.Contexts, memctx.Row{Depth: depth, Stats: memctx.Stats{Name: fmt.Sprint("level", depth)}})
	}
	screen := draw(s, 40, 60)
	for depth := range 50 {
		if !strings.Contains(screen, fmt.Sprint("level", depth)) {
			t.Errorf("no level %d in\n%s", depth, screen)
		}
	}
}

// TestUsageNames checks the help against what there is.
func TestUsageNames(t *testing.T) {
	names := strings.Join(viewNames()[:len(views)-1], ", ") + " or " + views[len(views)-1].name
	if !strings.Contains(usage, names) {
		t.Errorf("the help does not say %q", names)
	}
	for _, v := range views {
		if want := fmt.Sprintf("    %-9s %s\n", v.name, strings.Join(v.sorts, " ")); !strings.Contains(usage, want) {
			t.Errorf("the help does not say %q", want)
		}
	}
	for _, line := range strings.Split(usage, "\n") {
		if cells(line) > 84 {
			t.Errorf("long line in the help: %q", line)
		}
	}
}
