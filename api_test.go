package haven_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files of api/ and the tables of DESIGN.md")

// TestAPI compares the exported surface of each public package with its golden
// file in api/. A change of the surface is made on purpose:
//
//	go test -run TestAPI -update .
//
// and shows in the review as a change of that file.
func TestAPI(t *testing.T) {
	want := map[string]bool{}
	for _, dir := range publicPackages(t) {
		golden := filepath.Join("api", strings.ReplaceAll(dir, "/", "_")+".txt")
		if dir == "." {
			golden = filepath.Join("api", "haven.txt")
		}
		want[golden] = true
		t.Run(dir, func(t *testing.T) {
			got := surface(t, dir)
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			old, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: a new package gets its file from go test -run TestAPI -update .", err)
			}
			old = bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n"))
			if !bytes.Equal(got, old) {
				t.Errorf("the exported surface is not that of %s; if that is meant, run go test -run TestAPI -update .\n%s",
					golden, diff(string(old), string(got)))
			}
		})
	}
	files, err := filepath.Glob("api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want[filepath.FromSlash(f)] {
			continue
		}
		t.Errorf("%s is of no package", f)
	}
}

// publicPackages returns the folders of the root module's packages that other
// modules can import, but for the root itself, which exports nothing.
func publicPackages(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != "." && (name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") || isFile(filepath.Join(path, "go.mod"))) {
			return filepath.SkipDir
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(files) == 0 {
			return err
		}
		dirs = append(dirs, filepath.ToSlash(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("the module has no packages")
	}
	return dirs
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// surface returns the exported declarations of the package in dir without
// comments and bodies, as they are on linux/amd64 in the default build.
func surface(t *testing.T, dir string) []byte {
	t.Helper()
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", false
	pkg, err := ctx.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, 0) // no comments
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, path.Join("github.com/haven-mem/haven", dir))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("package " + p.Name + " // import \"" + p.ImportPath + "\"\n")
	w := &surfaceWriter{t: t, fset: fset, out: &out}
	w.values(p.Consts, p.Vars)
	w.funcs(p.Funcs)
	for _, typ := range p.Types {
		w.write(typ.Decl)
		w.values(typ.Consts, typ.Vars)
		w.funcs(typ.Funcs)
		w.funcs(typ.Methods)
	}
	return out.Bytes()
}

type surfaceWriter struct {
	t    *testing.T
	fset *token.FileSet
	out  *bytes.Buffer
}

func (w *surfaceWriter) values(lists ...[]*doc.Value) {
	for _, list := range lists {
		for _, v := range list {
			w.write(v.Decl)
		}
	}
}

func (w *surfaceWriter) funcs(list []*doc.Func) {
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for _, f := range list {
		f.Decl.Body = nil
		w.write(f.Decl)
	}
}

func (w *surfaceWriter) write(decl ast.Decl) {
	w.out.WriteByte('\n')
	if err := format.Node(w.out, w.fset, decl); err != nil {
		w.t.Fatal(err)
	}
	w.out.WriteByte('\n')
}

// diff lists the lines that are in one text only.
func diff(old, new string) string {
	var b strings.Builder
	in := func(text string) map[string]bool {
		lines := map[string]bool{}
		for _, l := range strings.Split(text, "\n") {
			lines[l] = true
		}
		return lines
	}
	list := func(sign, text string, other map[string]bool) {
		for _, l := range strings.Split(text, "\n") {
			if !other[l] {
				b.WriteString(sign + l + "\n")
			}
		}
	}
	list("- ", old, in(new))
	list("+ ", new, in(old))
	return b.String()
}
