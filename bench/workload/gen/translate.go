package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"slices"
	"strings"
)

// A source is a file of package workload.
type source struct {
	name string
	text []byte
}

// lanesDirective in a function's comment names the struct of lanes that its
// version for lanes takes. Without it that takes the one lane of the type that
// the function makes.
const lanesDirective = "//gen:lanes "

// A mode is a way of allocating that programs are translated to.
type mode struct {
	suffix string // of the function's name, in the place of New
	param  string // the first parameter
	typ    string // its type, %s standing for that of the lane
	expr   string // the arena
	pkg    string // whose functions are called with it
}

var modes = []mode{
	{suffix: "Arena", param: "mem", typ: "*arena.Arena", expr: "mem", pkg: "arena"},
	{suffix: "Lane", param: "lane", typ: "*arena.Lane[%s]", expr: "lane", pkg: "arena"},
	{suffix: "Bump", param: "mem", typ: "*bump.Arena", expr: "mem", pkg: "bump"},
}

// translate writes the programs of the sources for each mode. It replaces what
// allocates and nothing else:
//
//	new(T), make([]T, n, m), append(s, v), append(s, v...), string(b)
//
// and calls of other programs, which get the same first argument.
func translate(w io.Writer, sources []source) error {
	io.WriteString(w, header)
	io.WriteString(w, "import (\n\"github.com/haven-mem/haven/arena\"\n\"github.com/haven-mem/haven/bump\"\n)\n")
	for _, src := range sources {
		lanes := map[string][]string{} // types by struct of lanes
		var structs []string
		for _, m := range modes {
			// Parsed anew for each mode, because translation changes the tree.
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, src.name, src.text, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || !strings.HasSuffix(fn.Name.Name, "New") {
					continue
				}
				t := translator{mode: m, made: map[string]bool{}}
				if fn.Doc != nil {
					for _, c := range fn.Doc.List {
						if s, ok := strings.CutPrefix(c.Text, lanesDirective); ok {
							t.lanes = strings.TrimSpace(s)
						}
					}
				}
				fn.Doc = nil
				t.function(fn)
				if t.err != nil {
					return fmt.Errorf("%s: %s: %w", src.name, fn.Name.Name, t.err)
				}
				if t.lanes != "" && m.suffix == "Lane" {
					if lanes[t.lanes] == nil {
						structs = append(structs, t.lanes)
					}
					lanes[t.lanes] = append(lanes[t.lanes], t.order...)
				}
				var out bytes.Buffer
				if err := printer.Fprint(&out, fset, fn); err != nil {
					return err
				}
				fmt.Fprintf(w, "\n// %s is the version of the program in %s for %s.\n%s\n",
					fn.Name.Name, src.name, map[string]string{"Arena": "arena.New", "Lane": "lanes", "Bump": "bump.New"}[m.suffix], out.Bytes())
			}
		}
		for _, name := range structs {
			writeLanes(w, name, lanes[name])
		}
	}
	return nil
}

// writeLanes writes the struct of lanes called name, and the function that
// fills it from an arena.
func writeLanes(w io.Writer, name string, types []string) {
	var all []string
	for _, t := range types {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	fmt.Fprintf(w, "\n// %s are an arena's lanes of the program's types.\ntype %s struct {\narena *arena.Arena // for strings and slices\n", name, name)
	for _, t := range all {
		fmt.Fprintf(w, "%s *arena.Lane[%s]\n", t, t)
	}
	fmt.Fprintf(w, "}\n\nfunc new%s(a *arena.Arena) %s {\nreturn %s{\narena: a,\n", strings.ToUpper(name[:1])+name[1:], name, name)
	for _, t := range all {
		fmt.Fprintf(w, "%s: arena.LaneOf[%s](a),\n", t, t)
	}
	fmt.Fprint(w, "}\n}\n")
}

// A translator translates one function to one mode.
type translator struct {
	mode
	lanes string          // struct of lanes; empty: one lane
	made  map[string]bool // types of new
	order []string        // the same in the order of the text
	err   error
}

func (t *translator) function(fn *ast.FuncDecl) {
	fn.Name.Name = t.rename(fn.Name.Name)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			t.call(call)
		}
		return t.err == nil
	})
	typ := t.typ
	if t.suffix == "Lane" {
		switch {
		case t.lanes != "":
			typ = "*" + t.lanes
		case len(t.order) != 1:
			t.err = fmt.Errorf("makes %d types: give it a %s directive", len(t.order), strings.TrimSpace(lanesDirective))
			return
		default:
			typ = fmt.Sprintf(typ, t.order[0])
		}
	}
	fn.Type.Params.List = slices.Insert(fn.Type.Params.List, 0,
		&ast.Field{Names: []*ast.Ident{ast.NewIdent(t.param)}, Type: ast.NewIdent(typ)})
}

func (t *translator) rename(name string) string { return strings.TrimSuffix(name, "New") + t.suffix }

// call replaces call if it allocates.
func (t *translator) call(call *ast.CallExpr) {
	fun, ok := call.Fun.(*ast.Ident)
	if !ok {
		return
	}
	mem := t.expr
	if t.suffix == "Lane" && t.lanes != "" {
		mem = t.param + ".arena"
	}
	generic := func(name, typ string) ast.Expr {
		if typ != "" {
			typ = "[" + typ + "]"
		}
		return ast.NewIdent(t.pkg + "." + name + typ)
	}
	if t.suffix == "Lane" && t.lanes == "" && fun.Name != "new" {
		switch fun.Name {
		case "append", "make", "string":
			t.err = fmt.Errorf("calls %s: give it a %s directive", fun.Name, strings.TrimSpace(lanesDirective))
			return
		}
	}
	arg := ast.Expr(ast.NewIdent(mem))
	switch {
	case fun.Name == "new":
		typ := text(call.Args[0])
		if !t.made[typ] {
			t.made[typ] = true
			t.order = append(t.order, typ)
		}
		switch {
		case t.suffix != "Lane":
			call.Fun, call.Args = generic("New", typ), []ast.Expr{arg}
		case t.lanes == "":
			call.Fun, call.Args = ast.NewIdent(t.param+".New"), nil
		default:
			call.Fun, call.Args = ast.NewIdent(t.param+"."+typ+".New"), nil
		}
	case fun.Name == "make":
		slice, ok := call.Args[0].(*ast.ArrayType)
		if !ok || slice.Len != nil || len(call.Args) != 3 {
			t.err = fmt.Errorf("has a make that is not of a slice with length and capacity")
			return
		}
		call.Fun = generic("MakeSlice", text(slice.Elt))
		call.Args[0] = arg
	case fun.Name == "append":
		name := "Append"
		if len(call.Args) == 2 && !call.Ellipsis.IsValid() {
			name = "Push"
		}
		call.Fun, call.Args = generic(name, ""), append([]ast.Expr{arg}, call.Args...)
	case fun.Name == "string":
		call.Fun, call.Args = generic("String", ""), append([]ast.Expr{arg}, call.Args...)
	case strings.HasSuffix(fun.Name, "New"):
		call.Fun = ast.NewIdent(t.rename(fun.Name))
		call.Args = append([]ast.Expr{ast.NewIdent(t.param)}, call.Args...)
	}
}

// text returns the source of e.
func text(e ast.Expr) string {
	var b strings.Builder
	printer.Fprint(&b, token.NewFileSet(), e)
	return b.String()
}
