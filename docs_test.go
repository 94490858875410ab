package haven_test

import (
	"go/ast"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// A fact is a numbered section of GC.md.
type fact struct {
	title string
	tests []string // folder.TestName
}

var (
	factHeading = regexp.MustCompile(`^## (\d+)\. (.+)$`)
	factTest    = regexp.MustCompile("`([\\w./]+)\\.((?:Test|Fuzz|Example|Benchmark)\\w*)`")
	factCite    = regexp.MustCompile(`GC\.md,? facts? (\d+)(?: and (\d+))?`)
)

// facts reads GC.md.
func facts(t *testing.T) map[string]*fact {
	t.Helper()
	text, err := os.ReadFile("GC.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*fact{}
	var f *fact
	guard := false // in a paragraph that names tests
	for _, line := range strings.Split(string(text), "\n") {
		if m := factHeading.FindStringSubmatch(line); m != nil {
			if all[m[1]] != nil {
				t.Errorf("GC.md has fact %s twice", m[1])
			}
			f = &fact{title: m[2]}
			all[m[1]] = f
		}
		if strings.HasPrefix(line, "Guarded by ") {
			guard = true
		} else if line == "" {
			guard = false
		}
		if f != nil && guard {
			for _, m := range factTest.FindAllStringSubmatch(line, -1) {
				f.tests = append(f.tests, m[1]+"."+m[2])
			}
		}
	}
	return all
}

// TestFacts checks that every fact of GC.md names tests that exist, and that
// every fact that code cites is one.
func TestFacts(t *testing.T) {
	all := facts(t)
	files := sources(t)
	declared := map[string]bool{}
	for _, s := range files {
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && s.test && fn.Recv == nil {
				dir := s.dir
				if dir == "." {
					dir = "haven" // as the package is called
				}
				declared[dir+"."+fn.Name.Name] = true
			}
		}
	}
	var numbers []string
	for n := range all {
		numbers = append(numbers, n)
	}
	sort.Strings(numbers)
	for _, n := range numbers {
		f := all[n]
		if len(f.tests) == 0 {
			t.Errorf("GC.md, fact %s (%s) names no test: want a paragraph that begins with \"Guarded by \" and has `folder.TestName`", n, f.title)
		}
		for _, name := range f.tests {
			if !declared[name] {
				t.Errorf("GC.md, fact %s: there is no test %s", n, name)
			}
		}
	}
	cited := 0
	for _, s := range files {
		for _, group := range s.file.Comments {
			// The words of a citation may stand on two lines.
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, m := range factCite.FindAllStringSubmatch(text, -1) {
				for _, n := range m[1:] {
					if n != "" && all[n] == nil {
						t.Errorf("%v cites fact %s, which GC.md does not have", sourceSet.Position(group.Pos()), n)
					}
				}
				cited++
			}
		}
	}
	if cited == 0 {
		t.Error("no code cites a fact: the pattern is wrong")
	}
}

// TestLinks checks that links between the documents, and to files, lead
// somewhere, anchors included.
func TestLinks(t *testing.T) {
	var docs []string
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, found...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]+`")
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", doc, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			target := doc
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(doc), filepath.FromSlash(u.Path))
			}
			if !isFile(target) {
				t.Errorf("%s links to %s, which does not exist", doc, u.Path)
				continue
			}
			if u.Fragment != "" && !anchors(t, target)[u.Fragment] {
				t.Errorf("%s links to %s, which has no heading #%s", doc, target, u.Fragment)
			}
		}
	}
}

// anchors returns the names that a Markdown file's headings get.
func anchors(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, line := range strings.Split(string(text), "\n") {
		if h := strings.TrimLeft(line, "#"); h != line && strings.HasPrefix(h, " ") {
			h = drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(h)), "")
			names[strings.ReplaceAll(h, " ", "-")] = true
		}
	}
	return names
}
