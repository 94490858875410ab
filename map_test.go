package haven_test

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// equations returns the types and variables of the root module's code, by folder and
// name, and the counting equations of each: the indented lines with an equals sign in
// its comment.
func equations(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, s := range sources(t) {
		if s.test || nested(s.dir) != "" {
			continue
		}
		for _, d := range s.file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE && decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				name, doc := "", decl.Doc
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					name = spec.Name.Name
					if spec.Doc != nil {
						doc = spec.Doc
					}
				case *ast.ValueSpec:
					name = spec.Names[0].Name
					if spec.Doc != nil {
						doc = spec.Doc
					}
				}
				key := s.dir + "." + name
				all[key] = slices.Clip(all[key]) // known, with or without equations
				for line := range strings.Lines(doc.Text()) {
					if strings.HasPrefix(line, "\t") && strings.Contains(line, " = ") {
						all[key] = append(all[key], strings.TrimSpace(line))
					}
				}
			}
		}
	}
	return all
}

var (
	mapNode     = regexp.MustCompile(`^([│ ]*(?:[├└]─ )?)((?:[a-z]+/)*[a-z]+\.\w+)`)
	mapEquation = regexp.MustCompile(`^[│ ]*∑ `)
)

// TestSourceMap checks that the map in DESIGN.md has each structure whose comment has an
// equation, with the same equations: below the structure's line, a line for each that
// begins with a ∑ behind the branches of the tree. With -update these lines are written
// anew. All structures of the map exist.
func TestSourceMap(t *testing.T) {
	const file, heading = "DESIGN.md", "\n## Map\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(text), "\r\n", "\n")
	before, rest, ok := strings.Cut(doc, heading)
	intro, rest, ok2 := strings.Cut(rest, "\n```\n")
	tree, after, ok3 := strings.Cut(rest, "\n```\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no section %q with a block", file, strings.TrimSpace(heading))
	}
	code := equations(t)
	if len(code) == 0 {
		t.Fatal("the code has no equations: the pattern is wrong")
	}
	nodes := slices.DeleteFunc(strings.Split(tree, "\n"), mapEquation.MatchString)
	var lines []string
	drawn := map[string]bool{}
	for i, line := range nodes {
		lines = append(lines, line)
		m := mapNode.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		of, known := code[m[2]]
		if !known {
			t.Errorf("%s: the map has %s, which the code has not", file, m[2])
		}
		if drawn[m[2]] && of != nil {
			t.Errorf("%s: the map has %s twice", file, m[2])
		}
		drawn[m[2]] = true
		branch := strings.NewReplacer("├─", "│ ", "└─", "  ").Replace(m[1])
		if i+1 < len(nodes) && strings.HasPrefix(nodes[i+1], branch) && strings.ContainsAny(nodes[i+1][len(branch):], "├└") {
			branch += "│  " // on to what it owns
		} else {
			branch += "   "
		}
		for _, e := range of {
			lines = append(lines, branch+"∑ "+e)
		}
	}
	for name, of := range code {
		if of != nil && !drawn[name] {
			t.Errorf("%s: the map lacks %s, whose comment has an equation", file, name)
		}
	}
	want := strings.Join(lines, "\n")
	if want == tree {
		return
	}
	if *update {
		doc = before + heading + intro + "\n```\n" + want + "\n```\n" + after
		if err := os.WriteFile(file, []byte(doc), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have := strings.Split(tree, "\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			t.Errorf("%s: the map lacks %q", file, line)
		}
	}
	for _, line := range have {
		if !slices.Contains(lines, line) {
			t.Errorf("%s: no comment has %q", file, line)
		}
	}
	t.Errorf("the map in %s is not that of the code; if the code is right, run go test -run TestSource -update .", file)
}
