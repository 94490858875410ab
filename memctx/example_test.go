package memctx_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
)

type Node struct {
	Text string
	Next *Node
}

func Example() {
	server := memctx.New("server")
	conn := server.Child("conn", memctx.Config{Ident: "17", Limit: 64 << 20})
	request := conn.Child("request", memctx.Config{Limit: 1 << 20})
	n := arena.New[Node](request.Arena())
	n.Text = arena.String(request.Arena(), "GET /")
	fmt.Println(request.Path(), n.Text)
	request.Delete() // its memory serves the next request
	server.Delete()  // and all that is below it
	// Output: server/conn[17]/request GET /
}

func ExampleNew() {
	server := memctx.New("server", memctx.Config{Limit: 1 << 30})
	defer server.Delete()
	fmt.Println(server.Name(), server.Parent() == nil)
	// Output: server true
}

func ExampleContext_Child() {
	server := memctx.New("server")
	for i := range 3 {
		server.Child("conn", memctx.Config{Ident: fmt.Sprint(i)})
	}
	fmt.Println(server.Stats().Children)
	server.Delete()
	// Output: 3
}

func ExampleContext_TryChild() {
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	_, err := server.TryChild("import", memctx.Config{Reserve: 2 << 20})
	fmt.Println(errors.Is(err, arena.ErrLimit))
	// Output: true
}

func ExampleContext_Arena() {
	request := memctx.New("request")
	words := arena.MakeSlice[string](request.Arena(), 0, 10)
	words = arena.Append(request.Arena(), words, "one", "two")
	fmt.Println(words)
	request.Delete()

	var none *memctx.Context // code that is written for contexts also runs without one
	fmt.Println(*arena.NewFrom(none.Arena(), 5))
	// Output:
	// [one two]
	// 5
}

func ExampleContext_Reset() {
	worker := memctx.New("worker")
	for _, line := range []string{"first", "second"} {
		part := worker.Child("part")
		fmt.Println(arena.String(part.Arena(), line))
		worker.Reset() // ends part, and takes back what worker has
	}
	fmt.Println(worker.Stats().Resets, worker.Stats().Children)
	worker.Delete()
	// Output:
	// first
	// second
	// 2 0
}

func ExampleContext_ResetChildren() {
	query := memctx.New("query")
	plan := arena.NewFrom(query.Arena(), "the plan stays")
	row := query.Child("row")
	for range 3 {
		arena.String(row.Arena(), "what a row takes")
		query.ResetChildren()
	}
	fmt.Println(*plan, row.Stats().Resets)
	query.Delete()
	// Output: the plan stays 3
}

func ExampleContext_Delete() {
	conn := memctx.New("conn")
	request := conn.Child("request")
	conn.Delete()
	defer func() { fmt.Println(recover()) }()
	request.Arena()
	// Output: memctx: Arena of the deleted context conn/request
}

// Build something where it goes with its maker if that fails, and give it to a
// longer life when it is done.
func ExampleContext_SetParent() {
	server := memctx.New("server")
	request := server.Child("request")
	schema := request.Child("schema")
	n := arena.NewFrom(schema.Arena(), Node{Text: "all tables"})
	if err := schema.SetParent(server); err != nil {
		fmt.Println(err)
	}
	request.Delete()
	fmt.Println(schema.Path(), n.Text)
	server.Delete()
	// Output: server/schema all tables
}

func ExampleContext_Abandon() {
	server := memctx.New("server")
	request := server.Child("request")
	start, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		<-start // what it waited for came too late
		fmt.Println(arena.String(request.Arena(), "still fine"))
	}()
	request.Abandon() // nobody waits for it, and its memory is not used again
	server.Delete()
	close(start)
	<-done
	// Output: still fine
}

func ExampleContext_Stats() {
	server := memctx.New("server")
	arena.MakeSlice[byte](server.Child("blob").Arena(), 5000, 5000)
	s := server.Stats()
	fmt.Println(s.Path, s.Contexts, s.Own.Bytes, s.Total.Bytes >= 5000)
	server.Delete()
	// Output: server 2 0 true
}

func ExampleContext_Walk() {
	server := memctx.New("server")
	server.Child("conn", memctx.Config{Ident: "1"}).Child("request")
	server.Child("conn", memctx.Config{Ident: "2"})
	server.Walk(func(c *memctx.Context, depth int) bool {
		fmt.Println(strings.Repeat("  ", depth) + c.Path())
		return true
	})
	server.Delete()
	// Output:
	// server
	//   server/conn[1]
	//     server/conn[1]/request
	//   server/conn[2]
}

func ExampleRoots() {
	a, b := memctx.New("first"), memctx.New("second")
	for c := range memctx.Roots() {
		if c == a || c == b {
			fmt.Println(c.Name())
		}
	}
	a.Delete()
	b.Delete()
	// Output:
	// first
	// second
}

func ExampleNames() {
	for range 3 {
		memctx.New("job").Delete()
	}
	for s := range memctx.Names() {
		if s.Name == "job" {
			fmt.Println(s.Created == s.Deleted+s.Abandoned+s.Dropped+uint64(s.Live))
		}
	}
	// Output: true
}

func ExampleTakeSnapshot() {
	server := memctx.New("server")
	server.Child("conn")
	for _, r := range memctx.TakeSnapshot().Contexts {
		if r.Name == "server" {
			fmt.Println(r.Path, r.Depth, r.Children)
		}
	}
	server.Delete()
	// Output: server 0 1
}

func ExampleWriteReport() {
	server := memctx.New("server")
	server.Child("conn")
	var out strings.Builder
	if err := memctx.WriteReport(&out, memctx.ReportOptions{Of: server, Ranked: 1}); err != nil {
		fmt.Println(err)
	}
	_, tree, _ := strings.Cut(out.String(), "memory contexts at ")
	lines := strings.Split(tree, "\n")
	fmt.Println(strings.SplitAfter(lines[1], "below")[0])
	fmt.Println(lines[3])
	server.Delete()
	// Output:
	// server: 0 bytes in 0 chunks, 0 in 0 with 1 context below
	// in all: 0 bytes in 0 chunks of 2 contexts
}

func ExampleDumpOnSignal() {
	stop := memctx.DumpOnSignal(os.Signal(syscall.SIGTERM)) // as a rule SIGUSR1
	defer stop()
}

func ExampleConfig_maxAge() {
	upload := memctx.New("upload", memctx.Config{MaxAge: time.Nanosecond})
	for upload.Stats().Age < time.Microsecond {
	}
	for _, l := range check.Leaks() {
		if l.Name == "upload" && l.Kind == "old" {
			fmt.Println(l.Kind, l.Path)
		}
	}
	upload.Delete()
	// Output: old upload
}

func ExampleSampleStacks() {
	check.SampleStacks(1) // in tests: all
	defer check.SampleStacks(128)
	forgotten := memctx.New("forgotten")
	defer forgotten.Delete()
}

func ExampleVerifyNone() {
	// In a test package:
	test := func(t *testing.T) {
		check.SampleStacks(1)
		t.Cleanup(func() { check.VerifyNone(t) })
	}
	_ = test
}

func ExampleConfig_ident() {
	conn := memctx.New("conn", memctx.Config{Ident: "10.0.0.7:4711"})
	fmt.Println(conn.Name(), conn.Ident(), conn.Path())
	conn.Delete()
	// Output: conn 10.0.0.7:4711 conn[10.0.0.7:4711]
}

func ExampleContext_OnReset() {
	request := memctx.New("request")
	request.OnReset(func() { fmt.Println("the file is closed") })
	request.OnReset(func() { fmt.Println("the transaction is rolled back") })
	request.Delete()
	// Output:
	// the transaction is rolled back
	// the file is closed
}

func ExampleContext_Retain() {
	request := memctx.New("request")
	line := arena.String(request.Arena(), "GET /")
	release := request.Retain() // for the goroutine that writes the log
	done := make(chan bool)
	go func() {
		defer close(done)
		defer release()
		fmt.Println(line)
	}()
	request.Delete() // the memory stays for as long as the log needs it
	<-done
	// Output: GET /
}

func ExampleContext_Bump() {
	type entry struct {
		word string
		next *entry
	}
	index := memctx.New("index", memctx.Config{Limit: 1 << 20})
	defer index.Delete()
	b := index.Bump() // untyped: the garbage collector looks at a word of each chunk
	var head *entry
	for _, w := range []string{"one", "two"} {
		head = bump.NewFrom(b, entry{bump.String(b, w), head})
	}
	_, err := bump.TryMakeSlice[byte](b, 0, 2<<20)
	fmt.Println(head.word, head.next.word, errors.Is(err, bump.ErrLimit))
	// Output: two one true
}

func ExampleConfig_limit() {
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	upload := server.Child("upload", memctx.Config{Ident: "a.zip"})
	_, err := arena.TryMakeSlice[byte](upload.Arena(), 2<<20, 2<<20)
	fmt.Println(errors.Is(err, arena.ErrLimit))
	fmt.Println(err)
	server.Delete()
	// Output:
	// true
	// memory context server reached its limit: 2097152 bytes requested, 0 of 1048576 bytes in chunks; asked by server/upload[a.zip] with 0 bytes, below server with 0 of 1048576 bytes
}

func ExampleConfig_reserve() {
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	server.Child("shutdown", memctx.Config{Reserve: 1 << 18}) // can always do its work
	_, err := server.TryChild("cache", memctx.Config{Reserve: 1 << 20})
	fmt.Println(errors.Is(err, arena.ErrLimit))
	server.Delete()
	// Output: true
}

func ExampleLeaks() {
	for _, l := range check.Leaks() {
		fmt.Println(l.Count, l.Kind, l.Name, l.Stack)
	}
}
