package haven_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
		if s.test || nested(s.dir) != "" {
			continue
		}
		s.uses("sync", func(member string, at token.Position) {
			if member == "Pool" {
				t.Errorf("%v: sync.Pool: it forgets what is warm, and one for each arena takes a global lock", at)
			}
		})
	}
}

// TestSourceRequires checks that the root module depends on nothing, and that the
// others require the project's modules in the version that go.work has for them, which
// is the same for all. They replace nothing: go install refuses a module that does.
func TestSourceRequires(t *testing.T) {
	own := regexp.MustCompile(`(` + modulePath + `\S*) (v\S+)`)
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	required := own.FindAllStringSubmatch(read("go.work"), -1)
	if len(required) == 0 {
		t.Fatal("go.work replaces no version of the project's modules by the tree")
	}
	version := map[string]string{}
	for _, m := range required {
		version[m[1]] = m[2]
		if m[2] != required[0][2] {
			t.Errorf("go.work: %s, but %s: want one version", m[0], required[0][0])
		}
	}
	modules := set{}
	for _, s := range sources(t) {
		modules[nested(s.dir)] = true
	}
	for dir := range modules {
		name := path.Join(dir, "go.mod")
		text := read(name)
		if strings.Contains(text, "=>") || dir == "" && strings.Contains(text, "require") {
			t.Errorf("%s replaces a module, or is the root's and requires one", name)
		}
		for _, m := range own.FindAllStringSubmatch(text, -1) {
			if version[m[1]] != m[2] {
				t.Errorf("%s requires %s, want %q as in go.work", name, m[0], version[m[1]])
			}
		}
		if sum := path.Join(dir, "go.sum"); isFile(sum) && own.MatchString(read(sum)) {
			t.Errorf("%s has hashes of the project's modules; .ci/tidy leaves them out", sum)
		}
	}
}
