package haven_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"net/http"
	"os"
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
			words = arena.Append(a, words, list.Word)
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
	memhttp.Wrap(srv, memhttp.RequestLimit(16<<20)) // beyond it: 413
	log.Fatal(srv.ListenAndServe())
}

func Example_contexts() {
	query := memctx.New("query", memctx.Ident("Q7"), memctx.Limit(256<<20))
	join := query.Child("join")
	rows := arena.MakeSlice[int64](join.Arena(), 0, 1000) // of the 256 MiB
	rows = arena.Append(join.Arena(), rows, 1, 2, 3)
	fmt.Println(join.Path(), len(rows), query.Stats().Total.Bytes)
	query.Delete() // and all below it; the next join gets its memory
	// Output: query[Q7]/join 3 8000
}

// TestReadme checks that the Go code in README.md is the code above, which the
// go command compiles and runs.
func TestReadme(t *testing.T) {
	bodies := exampleBodies(t, "readme_test.go")
	blocks := codeBlocks(t, "README.md", "go")
	for name, body := range bodies {
		found := false
		for _, b := range blocks {
			found = found || b == body
		}
		if !found {
			t.Errorf("README.md does not show %s:\n%s", name, body)
		}
	}
	for _, b := range blocks {
		found := false
		for _, body := range bodies {
			found = found || b == body
		}
		if !found {
			t.Errorf("README.md shows code that is no example of readme_test.go:\n%s", b)
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

// exampleBodies returns the bodies of a file's examples as a reader sees them,
// by name: one tab less, and without the comment that gives the output.
func exampleBodies(t *testing.T, file string) map[string]string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		body := string(src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset])
		body, _, _ = strings.Cut(body, "\t// Output:")
		body = strings.ReplaceAll(body, "\n\t", "\n")
		bodies[fn.Name.Name] = strings.TrimSpace(body)
	}
	return bodies
}
