package shapecmd

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loader finds packages through the go command and checks them from source.
type loader struct {
	opts    options
	fset    *token.FileSet
	user    *packages.Package            // the package of opts.dir, or nil
	byPath  map[string]*packages.Package // what was asked for, by path as written
	checked map[*packages.Package]*types.Package
}

// patterns of the go command that look like a path but mean many packages.
var reserved = []string{"all", "cmd", "main", "std", "tool", "work"}

// load loads opts.dir and the packages named in expressions.
func load(opts options, paths []string) (*loader, error) {
	l := &loader{
		opts:    opts,
		fset:    token.NewFileSet(),
		byPath:  make(map[string]*packages.Package),
		checked: make(map[*packages.Package]*types.Package),
	}
	var patterns []string
	if opts.dir != "" {
		patterns = append(patterns, opts.dir)
	}
	for _, p := range paths {
		if p != "unsafe" && !slices.Contains(reserved, p) {
			patterns = append(patterns, p)
		}
	}
	if len(patterns) == 0 && len(paths) == 0 {
		return l, nil
	}
	roots, err := l.list(patterns)
	if err != nil {
		return nil, err
	}
	for _, p := range roots {
		if slices.Contains(paths, p.PkgPath) && len(p.Errors) == 0 {
			l.byPath[p.PkgPath] = p
		}
	}
	if opts.dir != "" {
		if l.user, err = userPackage(opts.dir, roots, paths); err != nil {
			return nil, err
		}
	}
	return l, l.resolve(paths)
}

// list runs the go command.
func (l *loader) list(patterns []string) ([]*packages.Package, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	env := append(os.Environ(), "GOARCH="+l.opts.arch)
	if l.opts.arch == "wasm" {
		env = append(env, "GOOS=wasip1")
	}
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps,
		Env:  env,
		Fset: l.fset,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", strings.Join(patterns, " "), err)
	}
	return roots, nil
}

// userPackage picks the package of dir out of what was loaded.
func userPackage(dir string, roots []*packages.Package, paths []string) (*packages.Package, error) {
	if strings.Contains(dir, "...") {
		return nil, fmt.Errorf("%s: a pattern of many packages; accepted: one directory", dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	for _, p := range roots {
		at := p.Dir
		if real, err := filepath.EvalSymlinks(at); err == nil {
			at = real
		}
		if at == abs && len(p.Errors) == 0 {
			return p, nil
		}
	}
	for _, p := range roots {
		if len(p.Errors) > 0 && !slices.Contains(paths, p.PkgPath) {
			return nil, fmt.Errorf("%s: %v", dir, describe(p.Errors[0]))
		}
	}
	return nil, fmt.Errorf("%s: no Go package there; accepted: a directory with Go files, inside a module", dir)
}

func describe(e packages.Error) string {
	if e.Pos == "" || e.Pos == "-" {
		return e.Msg
	}
	return e.Pos + ": " + e.Msg
}

// resolve finds the packages of paths that are no import paths: the name of
// the user's package, a package that it imports, or the last part of a path in
// the standard library.
func (l *loader) resolve(paths []string) error {
	var std []*packages.Package
	for _, p := range paths {
		if p == "unsafe" || l.byPath[p] != nil {
			continue
		}
		if l.user != nil && (p == l.user.Name || p == l.user.PkgPath) {
			l.byPath[p] = l.user
			continue
		}
		var found []*packages.Package
		if l.user != nil {
			for _, imported := range l.user.Imports {
				if imported.Name == p {
					found = append(found, imported)
				}
			}
		}
		if len(found) == 0 && !strings.Contains(p, "/") && !slices.Contains(reserved, p) {
			if std == nil {
				var err error
				if std, err = l.listStd(); err != nil {
					return err
				}
			}
			for _, candidate := range std {
				if candidate.Name == p {
					found = append(found, candidate)
				}
			}
		}
		switch len(found) {
		case 0:
			return fmt.Errorf("no package %q; accepted: an import path that the go command finds from here, such as time.Time or net/http.Header, or ./directory as the first argument", p)
		case 1:
			l.byPath[p] = found[0]
			if len(found[0].CompiledGoFiles) == 0 {
				roots, err := l.list([]string{found[0].PkgPath})
				if err != nil {
					return err
				}
				l.byPath[p] = roots[0]
			}
		default:
			var names []string
			for _, f := range found {
				names = append(names, f.PkgPath)
			}
			slices.Sort(names)
			return fmt.Errorf("package %q is ambiguous; accepted: %s", p, strings.Join(names, ", "))
		}
	}
	return nil
}

// listStd returns the public packages of the standard library, names only.
func (l *loader) listStd() ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{Mode: packages.NeedName}, "std")
	if err != nil {
		return nil, fmt.Errorf("cannot list the standard library: %w", err)
	}
	return slices.DeleteFunc(all, func(p *packages.Package) bool {
		return slices.ContainsFunc(strings.Split(p.PkgPath, "/"), func(element string) bool {
			return element == "internal" || element == "vendor"
		})
	}), nil
}

// importFor returns the importer of a package, whose imports are those given
// by path as its source writes them.
type importFor struct {
	l       *loader
	imports map[string]*packages.Package
}

func (im importFor) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := im.imports[path]
	if p == nil {
		return nil, fmt.Errorf("package %s is not loaded", path)
	}
	return im.l.dependency(p)
}

// dependency checks an imported package, once. What is wrong in it does not
// matter here: a type that suffers is found invalid when it is laid out.
func (l *loader) dependency(p *packages.Package) (*types.Package, error) {
	if done := l.checked[p]; done != nil {
		return done, nil
	}
	files, _ := l.parse(p)
	done, _ := l.check(p.PkgPath, files, p.Imports, func(error) {})
	l.checked[p] = done
	return done, nil
}

func (l *loader) parse(p *packages.Package) (files []*ast.File, first error) {
	for _, name := range p.CompiledGoFiles {
		if path.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		if err != nil && first == nil {
			first = err
		}
		if file != nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 && first == nil {
		first = errors.New("no Go files")
	}
	return files, first
}

// check runs go/types, with the sizes of the architecture, so that constants
// made of unsafe.Sizeof are right.
func (l *loader) check(path string, files []*ast.File, imports map[string]*packages.Package, report func(error)) (*types.Package, error) {
	conf := types.Config{
		Importer:         importFor{l, imports},
		Sizes:            l.opts.sizes,
		IgnoreFuncBodies: true,
		Error:            report,
	}
	return conf.Check(path, l.fset, files, nil)
}
