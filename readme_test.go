package haven_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// The bodies of these examples are the Go code of README.md, see TestReadme.

func Example() {
	type Node struct {
		Word string
		Next *Node
	}
	var arenas arena.Pool
	backwards := func(text string) string {
		a := arenas.Get()   // warm: it has the memory of the last call
		defer arenas.Put(a) // ends all of it at once
		var list *Node
		for _, w := range strings.Fields(text) {
			list = arena.NewFrom(a, Node{Word: w, Next: list})
		}
		words := arena.MakeSlice[string](a, 0, 8)
		for ; list != nil; list = list.Next {
			words = arena.Push(a, words, list.Word)
		}
		return strings.Join(words, " ") // on Go's heap, so it may leave
	}
	fmt.Println(backwards("together end objects"))
	// Output: objects end together
}

func Example_bump() {
	type Entry struct {
		Word string
		Next *Entry
	}
	var a bump.Arena
	var head *Entry
	for _, w := range []string{"one", "two"} {
		head = bump.NewFrom(&a, Entry{bump.String(&a, w), head})
	}
	a.Free() // ends the arena; what is in use stays, for as long as it is
	fmt.Println(head.Word, head.Next.Word)
	// Output: two one
}

func Example_server() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) {
		a := memctx.FromContext(r.Context()).Arena() // of this request
		words := arena.MakeSlice[string](a, 0, 8)
		words = arena.Append(a, words, "hello", r.FormValue("name"))
		fmt.Fprintln(w, strings.Join(words, ", "))
	})
	debugpage.Register(mux) // http://localhost:8080/debug/haven/
	srv := &http.Server{Addr: "localhost:8080", Handler: mux}
	memhttp.Wrap(srv, memhttp.Config{RequestLimit: 16 << 20}) // beyond it: 413
	log.Fatal(srv.ListenAndServe())
}

func Example_contexts() {
	query := memctx.New("query", memctx.Config{Ident: "Q7", Limit: 256 << 20})
	join := query.Child("join")
	rows := arena.MakeSlice[int64](join.Arena(), 0, 1000) // of the 256 MiB
	rows = arena.Append(join.Arena(), rows, 1, 2, 3)
	fmt.Println(join.Path(), len(rows), query.Stats().Total.Bytes)
	query.Delete() // and all below it; the next join gets its memory
	// Output: query[Q7]/join 3 8000
}

// TestReadme checks that the Go code in the documents is that of examples, which the
// go command compiles and runs, and that what documents say is printed is.
func TestReadme(t *testing.T) {
	for doc, file := range map[string]string{
		"README.md":          "readme_test.go",
		"memctx/PRACTICE.md": "practice_test.go",
	} {
		bodies, outputs := examples(t, file)
		compareBlocks(t, doc, "go", bodies, true)
		compareBlocks(t, doc, "text", outputs, false)
	}
}

// compareBlocks compares the blocks of a language in a document with those of examples,
// and the other way round if the document must show all.
func compareBlocks(t *testing.T, doc, language string, want map[string]string, all bool) {
	t.Helper()
	blocks := codeBlocks(t, doc, language)
	for name, text := range want {
		if all && !slices.Contains(blocks, text) {
			t.Errorf("%s does not show %s:\n%s", doc, name, text)
		}
	}
	for _, b := range blocks {
		if !slices.Contains(slices.Collect(maps.Values(want)), b) {
			t.Errorf("%s shows %s that is of no example:\n%s", doc, language, b)
		}
	}
}

// codeBlocks returns the fenced blocks of a language in a Markdown file.
func codeBlocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(text), "\n```") {
		if body, ok := strings.CutPrefix(part, language+"\n"); ok && i > 0 {
			blocks = append(blocks, body)
		}
	}
	return blocks
}

// examples returns the bodies of a file's examples as a reader sees them, by name: one
// tab less, and without the comment that gives the output; and what that says.
func examples(t *testing.T, file string) (bodies, outputs map[string]string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies, outputs = map[string]string{}, map[string]string{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		body := string(src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset])
		body, output, _ := strings.Cut(body, "\t// Output:")
		body = strings.ReplaceAll(body, "\n\t", "\n")
		bodies[fn.Name.Name] = strings.TrimSpace(body)
		outputs[fn.Name.Name] = strings.TrimSpace(strings.ReplaceAll(output, "\n\t// ", "\n"))
	}
	return bodies, outputs
}
