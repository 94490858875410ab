package shapecmd

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/haven-mem/haven/internal/layout"
)

// row is one line of the table.
type row struct {
	expr string // as the user wrote it
	full string // the type's name with import paths
	node *layout.Node
}

// shapes evaluates what the command line asks for.
//
// The expressions become type declarations in a file of their own, which is
// checked together with the files of the user's package. So they mean what
// they would mean there, and the messages are those of the compiler.
func shapes(opts options) ([]row, error) {
	spans := make([][]span, len(opts.exprs))
	var paths []string
	for i, expr := range opts.exprs {
		spans[i] = qualifiers(expr)
		for _, s := range spans[i] {
			if p := expr[s.start:s.end]; !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	l, err := load(opts, paths)
	if err != nil {
		return nil, err
	}
	e := &evaluation{loader: l, name: "shape", pkgPath: "command-line-arguments", imports: make(map[string]*packages.Package)}
	if l.user != nil {
		if e.files, err = l.parse(l.user); err != nil {
			return nil, fmt.Errorf("%s: %v", opts.dir, firstError(err))
		}
		e.name, e.pkgPath = l.user.Name, l.user.PkgPath
		maps.Copy(e.imports, l.user.Imports)
	}
	return e.run(spans)
}

type evaluation struct {
	*loader
	name, pkgPath string
	files         []*ast.File
	imports       map[string]*packages.Package
	exprs         []rewritten
	starts        []int // offset of each expression in the file made for them
}

const (
	exprFile   = "haven shape arguments"
	typePrefix = "havenShapeArgument"
)

func (e *evaluation) run(spans [][]span) ([]row, error) {
	source, err := e.source(spans)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(e.fset, exprFile, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, e.locate(firstError(err))
	}
	var first error
	pkg, _ := e.check(e.pkgPath, append(e.files, file), e.imports, func(err error) {
		if first == nil {
			first = err
		}
	})
	if first != nil {
		return nil, e.locate(first)
	}
	build := builder{sizes: e.opts.sizes, word: e.opts.sizes.Sizeof(types.Typ[types.Uintptr]), arch: e.opts.arch}
	var rows []row
	add := func(expr string, t types.Type) error {
		node, err := build.node(t)
		if err != nil {
			return fmt.Errorf("%q: %v", expr, err)
		}
		rows = append(rows, row{expr: expr, full: types.TypeString(types.Unalias(t), nil), node: node})
		return nil
	}
	for i, expr := range e.opts.exprs {
		if err := add(strings.TrimSpace(expr), pkg.Scope().Lookup(typePrefix+strconv.Itoa(i)).Type()); err != nil {
			return nil, err
		}
	}
	if len(e.opts.exprs) == 0 {
		for _, name := range pkg.Scope().Names() {
			if t, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !generic(t.Type()) {
				if err := add(name, t.Type()); err != nil {
					return nil, err
				}
			}
		}
		if len(rows) == 0 {
			return nil, fmt.Errorf("%s: package %s declares no types that have a size; accepted: type expressions after the directory", e.opts.dir, e.name)
		}
	}
	return rows, nil
}

// generic reports whether t needs type arguments before it has a layout, or is
// a constraint, of which there are no values.
func generic(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		if t.TypeParams().Len() > t.TypeArgs().Len() {
			return true
		}
	case *types.Named:
		if t.TypeParams().Len() > t.TypeArgs().Len() {
			return true
		}
	}
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// source writes the file of declarations.
func (e *evaluation) source(spans [][]span) (string, error) {
	var decls, imports strings.Builder
	names := make(map[string]string)
	for i, expr := range e.opts.exprs {
		r := rewrite(expr, spans[i], func(path string) string {
			if p := e.byPath[path]; p != nil && p == e.user {
				return ""
			}
			if names[path] == "" {
				names[path] = e.importName(path, names)
				fmt.Fprintf(&imports, "import %s %q\n", names[path], path)
				if p := e.byPath[path]; p != nil {
					e.imports[path] = p
				}
			}
			return names[path]
		})
		if _, err := parser.ParseExpr(r.text); err != nil {
			var list scanner.ErrorList
			if !errors.As(err, &list) || len(list) == 0 {
				return "", fmt.Errorf("%q: %v", expr, err)
			}
			return "", fmt.Errorf("%q: column %d: %s; accepted: a type expression such as 'map[int]string'",
				expr, r.column(list[0].Pos.Offset), list[0].Msg)
		}
		e.exprs = append(e.exprs, r)
	}
	head := "package " + e.name + "\n" + imports.String()
	for i, r := range e.exprs {
		fmt.Fprintf(&decls, "type %s%d = ", typePrefix, i)
		e.starts = append(e.starts, len(head)+decls.Len())
		decls.WriteString(r.text + "\n")
	}
	return head + decls.String(), nil
}

// importName picks the name by which a package is imported: its own, unless it
// is taken.
func (e *evaluation) importName(path string, taken map[string]string) string {
	name := path
	if p := e.byPath[path]; p != nil {
		name = p.Name
	}
	used := func(name string) bool {
		for _, t := range taken {
			if t == name {
				return true
			}
		}
		return declares(e.files, name)
	}
	for used(name) {
		name += "_"
	}
	return name
}

// declares reports whether a name is declared at the top of one of the files.
func declares(files []*ast.File, name string) bool {
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == name {
					return true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.Name == name {
							return true
						}
					case *ast.ValueSpec:
						if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == name }) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// locate turns an error into one that names the argument and the column in
// it, or the place in the user's files.
func (e *evaluation) locate(err error) error {
	var pos token.Position
	message := err.Error()
	var typeErr types.Error
	var syntaxErr *scanner.Error
	switch {
	case errors.As(err, &typeErr):
		pos, message = e.fset.Position(typeErr.Pos), typeErr.Msg
	case errors.As(err, &syntaxErr):
		pos, message = syntaxErr.Pos, syntaxErr.Msg
	}
	if pos.Filename != exprFile {
		return fmt.Errorf("%s: %v", e.opts.dir, err)
	}
	for i, start := range slices.Backward(e.starts) {
		if pos.Offset >= start {
			return fmt.Errorf("%q: column %d: %s; accepted: a type expression such as 'map[int]string', time.Time or a type of ./package",
				e.opts.exprs[i], e.exprs[i].column(pos.Offset-start), message)
		}
	}
	return errors.New(message)
}

// firstError returns the first of a list of syntax errors.
func firstError(err error) error {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0]
	}
	return err
}
