package misuse_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// A table has the outcomes of a mode. Its file has a line for each scenario and kind
// of memory, with the outcome of most types and offsets, and indented lines behind it
// for the others.
type table struct {
	lines map[string]line // by scenario/kind
	order []string
}

type line struct {
	usual  outcome
	except map[string]outcome // by type/offset
}

// row and column are the two halves of a trial's name.
func (t *trial) row() string    { return t.name + " | " + t.kind.name }
func (t *trial) column() string { return strings.TrimSuffix(t.typ.name+", "+t.offset, ", ") }

// of returns the outcome that is expected of a trial.
func (g *table) of(t *trial) outcome {
	l, ok := g.lines[t.row()]
	if !ok {
		return outcome{"missing", ""}
	}
	if o, ok := l.except[t.column()]; ok {
		return o
	}
	return l.usual
}

func parseOutcome(s string) outcome {
	when, how, _ := strings.Cut(s, ": ")
	return outcome{when, how}
}

func readTable(t *testing.T, file string) *table {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := &table{lines: map[string]line{}}
	var l line
	for _, s := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		name, o, ok := strings.Cut(s, " = ")
		if !ok {
			t.Fatalf("%s: %q is no line of a table", file, s)
		}
		if name, ok := strings.CutPrefix(name, "\t"); ok {
			l.except[name] = parseOutcome(o)
			continue
		}
		l = line{parseOutcome(o), map[string]outcome{}}
		g.lines[name] = l
		g.order = append(g.order, name)
	}
	return g
}

func writeTable(t *testing.T, file string, got map[string]result) {
	t.Helper()
	var b strings.Builder
	var rows []string
	members := map[string][]*trial{}
	for _, x := range trials(false) {
		if members[x.row()] == nil {
			rows = append(rows, x.row())
		}
		members[x.row()] = append(members[x.row()], x)
	}
	for _, row := range rows {
		count := map[outcome]int{}
		for _, x := range members[row] {
			count[got[x.String()].outcome]++
		}
		usual := slices.MaxFunc(slices.SortedFunc(maps.Keys(count), func(a, b outcome) int {
			return cmp.Compare(a.String(), b.String())
		}), func(a, b outcome) int { return count[a] - count[b] })
		fmt.Fprintf(&b, "%s = %v\n", row, usual)
		for _, x := range members[row] {
			if o := got[x.String()].outcome; o != usual {
				fmt.Fprintf(&b, "\t%s = %v\n", x.column(), o)
			}
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
