package haven_test

import (
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/haven-mem/haven"

// A set has strings.
type set map[string]bool

// compareTable compares a table of DESIGN.md with the code. The table begins with the
// line head, the first cell of a row is a folder, and the last one has what the code
// has of it. There is one row for each folder. With -update the last cells are
// written anew. It returns the other cells, by folder.
func compareTable(t *testing.T, head string, code map[string]set) map[string][]string {
	t.Helper()
	const file = "DESIGN.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	at := slices.Index(lines, head)
	if at < 0 {
		t.Fatalf("%s has no line %q", file, head)
	}
	rows := map[string][]string{}
	for i := at + 2; strings.HasPrefix(lines[i], "|"); i++ {
		cells := strings.Split(strings.Trim(lines[i], "|"), "|")
		for c := range cells {
			cells[c] = strings.TrimSpace(cells[c])
		}
		folder, last := strings.Trim(cells[0], "`"), len(cells)-1
		has, known := code[folder]
		if !known || rows[folder] != nil || last != strings.Count(head, "|")-2 {
			t.Errorf("%s:%d: the row of %s is one too many, or has not the columns %s", file, i+1, folder, head)
			continue
		}
		rows[folder] = cells[1:last]
		want := "–"
		if len(has) > 0 {
			want = "`" + strings.Join(slices.Sorted(maps.Keys(has)), "`, `") + "`"
		}
		if cells[last] != want && !*update {
			t.Errorf("%s:%d: %s: the document has %q, the code %q; if that is meant, run go test -run TestSource -update .",
				file, i+1, folder, cells[last], want)
		}
		cells[last] = want
		lines[i] = "| " + strings.Join(cells, " | ") + " |"
	}
	for _, folder := range slices.Sorted(maps.Keys(code)) {
		if rows[folder] == nil {
			t.Errorf("%s: the table %s has no row of %s", file, head, folder)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// nested returns the folder of the nested module that has dir; "" is the root module.
func nested(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if isFile(filepath.Join(filepath.FromSlash(dir), "go.mod")) {
			return dir
		}
	}
	return ""
}

// unit returns the folder that DESIGN.md has a row for: that of a package of the root
// module, or of a nested module.
func unit(dir string) string {
	if module := nested(dir); module != "" {
		return module
	}
	return dir
}

// TestSourceImports checks that DESIGN.md says what each package imports, that no
// import goes to a higher layer, from allocator to allocator or to what is for tests,
// and that the root module imports nothing outside Go's standard library.
func TestSourceImports(t *testing.T) {
	imports := map[string]set{}
	for _, s := range sources(t) {
		from := unit(s.dir)
		if imports[from] == nil {
			imports[from] = set{}
		}
		for _, p := range s.imports() {
			rel, ours := strings.CutPrefix(p, modulePath)
			to := unit(path.Join(".", strings.TrimPrefix(rel, "/")))
			switch {
			case ours && !s.test && to != from:
				imports[from][to] = true
			case !ours && nested(s.dir) == "" && strings.Contains(strings.Split(p, "/")[0], "."):
				t.Errorf("%s imports %s, which is not in the standard library", s.path, p)
			}
		}
	}
	rows := compareTable(t, "| folder | layer | what lives there | imports |", imports)
	layers := map[string]int{}
	for folder, row := range rows {
		layer, err := strconv.Atoi(row[0])
		if err != nil && row[0] != "tests" {
			t.Errorf("DESIGN.md: %s: layer %q: want a number, or tests", folder, row[0])
		}
		layers[folder] = layer // 0 is for tests
	}
	for from, list := range imports {
		for to := range list {
			if rows[from] == nil || rows[to] == nil {
				continue // reported above
			}
			a, b := layers[from], layers[to]
			if b == 0 || a == 2 && b == 2 || a != 0 && a < b {
				t.Errorf("%s (layer %s) imports %s (layer %s), see DESIGN.md", from, rows[from][0], to, rows[to][0])
			}
		}
	}
}

// TestSourceUnsafe checks that DESIGN.md says who uses unsafe, and what of it.
func TestSourceUnsafe(t *testing.T) {
	uses := map[string]set{}
	for _, s := range sources(t) {
		if s.test || !slices.Contains(s.imports(), "unsafe") {
			continue
		}
		if uses[s.dir] == nil {
			uses[s.dir] = set{}
		}
		s.uses("unsafe", func(member string, _ token.Position) { uses[s.dir][member] = true })
	}
	for folder, row := range compareTable(t, "| folder | what for | uses |", uses) {
		if row[0] == "" {
			t.Errorf("DESIGN.md does not say what %s uses unsafe for", folder)
		}
	}
}
