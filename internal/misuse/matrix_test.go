package misuse_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// page is what publishes the tables: the lines of the table in its section "What is
// found".
const page = "../../MISTAKES.md"

// TestMatrix compares the page with the tables.
func TestMatrix(t *testing.T) {
	if os.Getenv(modeVar) != "" {
		t.Skip("a child process")
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, section, ok := strings.Cut(string(b), "\n## What is found\n")
	from := strings.Index(section, "\n|") + 1
	n := strings.Index(section[from:], "|\n\n")
	if !ok || from == 0 || n < 0 {
		t.Fatalf(`%s has no table in a section "What is found"`, page)
	}
	got := section[from : from+n+2]
	want := matrix(t)
	if got == want {
		return
	}
	if !*update {
		t.Errorf("the table of %s is not that of testdata; run this with -update. It should be\n%s", page, want)
		return
	}
	text := before + "\n## What is found\n" + section[:from] + want + section[from+n+2:]
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// matrix returns the table of all modes. Kinds of memory of which each mode says the
// same share a line, and so do mistakes.
func matrix(t *testing.T) string {
	var tables []*table // nil: not there yet
	lines := []string{"| mistake | memory |", "|---|---|"}
	for _, m := range modes {
		lines[0] += " " + m.name + " |"
		lines[1] += "---|"
		file := filepath.Join("testdata", m.name+".txt")
		if _, err := os.Stat(file); err != nil {
			tables = append(tables, nil)
			continue
		}
		tables = append(tables, readTable(t, file))
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
	if g == nil {
		return "–"
	}
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
