package haven_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A source is a Go file of the repository, of whichever module.
type source struct {
	path string // with slashes
	dir  string
	test bool
	file *ast.File
}

var sourceSet = token.NewFileSet()

// sources parses all Go files of the repository but those of testdata.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || len(base) > 1 && base[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(sourceSet, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		list = append(list, source{slashed, path.Dir(slashed), strings.HasSuffix(name, "_test.go"), f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (s source) imports() []string {
	var list []string
	for _, i := range s.file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		list = append(list, p)
	}
	return list
}

// uses calls f for each selection from the package that is imported as name.
func (s source) uses(name string, f func(member string, at token.Position)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
				f(sel.Sel.Name, sourceSet.Position(sel.Pos()))
			}
		}
		return true
	})
}

// TestSourcePragmas is GC.md fact 9: the pragmas that switch pointer checks off
// are in no file, tests included.
func TestSourcePragmas(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				for _, pragma := range []string{"nosplit", "nocheckptr"} {
					if strings.HasPrefix(c.Text, "//go:"+pragma) {
						t.Errorf("%v: go:%s switches checkptr off", sourceSet.Position(c.Pos()), pragma)
					}
				}
			}
		}
	}
}

// TestSourceLinks checks that there is one link into the runtime, in one file,
// for a closed range of Go versions, and that only the package around it hides
// code from the race detector.
func TestSourceLinks(t *testing.T) {
	const file, tags = "internal/magazine/pin.go", "//go:build gc && go1.24 && !go1.28 && !haven_nolinkname"
	found := false
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				switch {
				case strings.HasPrefix(c.Text, "//go:linkname ") && s.path != file:
					t.Errorf("%v: %s: links into the runtime are in %s", sourceSet.Position(c.Pos()), c.Text, file)
				case strings.HasPrefix(c.Text, "//go:norace") && s.dir != "internal/magazine" && !s.test:
					t.Errorf("%v: %s: what the race detector cannot follow is in internal/magazine", sourceSet.Position(c.Pos()), c.Text)
				case s.path == file && c.Text == tags:
					found = true
				}
			}
		}
	}
	if !found {
		t.Errorf("%s has no line %q", file, tags)
	}
}

// TestSourceFinalizers keeps to GC.md fact 4. The tests that show the fact are
// the only place for a finalizer.
func TestSourceFinalizers(t *testing.T) {
	for _, s := range sources(t) {
		s.uses("runtime", func(member string, at token.Position) {
			if member == "SetFinalizer" && !(s.test && s.dir == "internal/gcfacts") {
				t.Errorf("%v: runtime.SetFinalizer: use AddCleanup", at)
			}
		})
	}
}

// TestSourceSyncPool keeps the allocators to GC.md fact 10.
func TestSourceSyncPool(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !rootModule(s.dir) {
			continue
		}
		s.uses("sync", func(member string, at token.Position) {
			if member == "Pool" {
				t.Errorf("%v: sync.Pool: it forgets what is warm, and one for each arena takes a global lock", at)
			}
		})
	}
}

// TestSourceUnsafe checks who imports unsafe: bump, shape, slab, pool and the
// named packages of internal, of which sanitize is for builds with a sanitizer only,
// testkit for tests and words for haven stress, and arena for the size of a type.
func TestSourceUnsafe(t *testing.T) {
	may := map[string]bool{
		"bump": true, "shape": true, "slab": true, "pool": true,
		"internal/addr": true, "internal/check": true, "internal/guard": true, "internal/layout": true, "internal/magazine": true, "internal/sanitize": true, "internal/testkit": true,
		"cmd/haven/internal/stress/words": true,
	}
	for _, s := range sources(t) {
		if s.test || may[s.dir] {
			continue
		}
		for _, p := range s.imports() {
			if p == "unsafe" && s.dir != "arena" {
				t.Errorf("%s imports unsafe", s.path)
			}
		}
		s.uses("unsafe", func(member string, at token.Position) {
			if member != "Sizeof" {
				t.Errorf("%v: unsafe.%s: package %s may use Sizeof only", at, member, s.dir)
			}
		})
	}
}

// rootModule reports whether a folder belongs to the root module.
func rootModule(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if isFile(filepath.Join(filepath.FromSlash(dir), "go.mod")) {
			return false
		}
	}
	return true
}

// TestSourceImports checks who may import whom in the root module: the
// allocators never each other, and nothing outside Go's standard library.
func TestSourceImports(t *testing.T) {
	const module = "github.com/haven-mem/haven"
	// What is beside a package's own internal packages.
	may := map[string][]string{
		".":     {"check"}, // for its Report
		"arena": nil, "bump": nil, "slab": nil, "pool": nil, "shape": nil,
		"memctx":           {"arena", "slab", "pool"},
		"memhttp":          {"memctx", "arena"}, // arena for its LimitError
		"internal/serving": {"memctx", "arena"},
		"debugpage":        {"memctx"},

		"internal/series": {"memctx", "slab", "pool"}, // for the adapters of contrib
	}
	for _, s := range sources(t) {
		if s.test || !rootModule(s.dir) {
			continue
		}
		for _, p := range s.imports() {
			rel, ours := strings.CutPrefix(p, module+"/")
			switch {
			case rel == "internal/testkit":
				t.Errorf("%s imports %s, which is for tests", s.path, rel)
			case !ours && strings.Contains(strings.Split(p, "/")[0], "."):
				t.Errorf("%s imports %s, which is not in the standard library", s.path, p)
			case !ours, strings.HasPrefix(rel, "internal/"):
			case strings.HasPrefix(s.dir, "internal/gate/"):
			default:
				list, known := may[s.dir]
				allowed := false
				for _, m := range list {
					allowed = allowed || m == rel
				}
				if !known || !allowed {
					t.Errorf("%s imports %s; package %s may not, see DESIGN.md", s.path, rel, s.dir)
				}
			}
		}
	}
}

// TestSourceRequires checks that the root module depends on nothing.
func TestSourceRequires(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		if f := strings.Fields(line); len(f) > 0 && (f[0] == "require" || f[0] == "replace") {
			t.Errorf("go.mod: %s", line)
		}
	}
}
