package misuse_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// page has the tables of all modes in one.
const page = "testdata/matrix.md"

// TestMatrix compares the page with the tables.
func TestMatrix(t *testing.T) { compare(t, page, matrix(t)) }

// compare compares the first table of a page with what it should be, and writes it with
// -update.
func compare(t *testing.T, page, want string) {
	t.Helper()
	if os.Getenv(modeVar) != "" {
		t.Skip("a child process")
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), "\n| mistake |")
	_, after, closed := strings.Cut(rest, "|\n\n")
	if !ok || !closed {
		t.Fatalf("%s has no table of mistakes with text behind it", page)
	}
	text := before + "\n" + want + "\n" + after
	switch {
	case text == string(b):
	case *update:
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s is not that of testdata; run this with -update. It should be\n%s", page, want)
	}
}

// table reads the table of a mode.
func (m mode) table(t *testing.T) *table {
	return readTable(t, filepath.Join("testdata", m.name+".txt"))
}

// matrix returns the table of all modes. Kinds of memory of which each mode says the
// same share a line, and so do mistakes.
func matrix(t *testing.T) string {
	var tables []*table
	lines := []string{"| mistake | memory |", "|---|---|"}
	for _, m := range modes {
		lines[0] += " " + m.name + " |"
		lines[1] += "---|"
		tables = append(tables, m.table(t))
	}
	type row struct {
		mistakes     []string
		kinds, cells string
	}
	var rows []*row
	by := map[string]*row{} // those that say the same are one
	all := trials(false)
	for len(all) > 0 {
		s := all[0].scenario
		var kinds []string
		for len(all) > 0 && all[0].scenario == s {
			if k := all[0].kind.name; !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
			all = all[1:]
		}
		var cells []string               // distinct, in order
		members := map[string][]string{} // kinds
		for _, k := range kinds {
			var c string
			for _, g := range tables {
				c += " " + g.cell(t, s.name+" | "+k) + " |"
			}
			if members[c] == nil {
				cells = append(cells, c)
			}
			members[c] = append(members[c], k)
		}
		for _, c := range cells {
			kinds := together(members[c])
			r := by[kinds+c]
			if r == nil {
				r = &row{kinds: kinds, cells: c}
				rows, by[kinds+c] = append(rows, r), r
			}
			r.mistakes = append(r.mistakes, s.name)
		}
	}
	for _, r := range rows {
		lines = append(lines, "| "+strings.Join(r.mistakes, "; ")+" | "+r.kinds+" |"+r.cells)
	}
	return strings.Join(lines, "\n") + "\n"
}

// together lists kinds, those of a package, whose names begin alike, together: "cache"
// for all of them, "arena (Mark, Pool)" for some.
func together(kinds []string) string {
	group := func(list []string) (names []string, parts map[string][]string) {
		parts = map[string][]string{}
		for _, k := range list {
			name, part, _ := strings.Cut(k, " ")
			if parts[name] == nil {
				names = append(names, name)
			}
			parts[name] = append(parts[name], part)
		}
		return names, parts
	}
	var every []string
	for _, k := range kindsOf[[1]byte]() {
		every = append(every, k.name)
	}
	_, all := group(every)
	names, parts := group(kinds)
	for i, n := range names {
		if len(parts[n]) < len(all[n]) {
			names[i] = n + " (" + strings.Join(parts[n], ", ") + ")"
		}
	}
	return strings.Join(names, ", ")
}

// cell returns what a line of a table says, in a word or two.
func (g *table) cell(t *testing.T, row string) string {
	l, ok := g.lines[row]
	if !ok {
		t.Fatalf("a table has no line %q; run the test of its mode with -update", row)
	}
	words := []string{l.usual.when}
	for _, o := range l.except {
		words = append(words, o.when)
	}
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "-" })
	switch {
	case len(words) == 0:
		return "–"
	case len(words) == 1:
		return words[0]
	case slices.Contains(words, "no"):
		return "in part"
	}
	return strings.Join(words, " or ")
}
