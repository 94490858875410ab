package haven_test

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// The body of this example is the Go code of memctx/PRACTICE.md, and its output the tree
// there. It is in this package because warm memory goes by name: the tests of memctx have
// warmed arenas of these names with other chunks.

func Example_practice() {
	process := memctx.New("process")
	cache := process.Child("cache")
	conn := process.Child("listener").Child("conn")
	request := conn.Child("request")

	entry := request.Child("entry") // goes with the request if making it fails
	arena.MakeSlice[int64](entry.Arena(), 2048, 2048)
	if err := entry.SetParent(cache); err != nil {
		entry.Delete() // the cache is full
	}

	rows := arena.MakeSlice[int64](request.Arena(), 0, 1024)
	item := request.Child("item") // one context for all items
	for i := range 3 {
		scratch := arena.MakeSlice[int64](item.Arena(), 512, 512)
		rows = arena.Push(request.Arena(), rows, scratch[i])
		if i == 2 {
			showTree(process)
		}
		item.Reset() // the next item gets its memory
	}
	request.Delete() // and item; the next request gets their memory
	process.Delete() // the end of the server: all that is left
	// Output:
	// process: 0 bytes in 0 chunks, 28672 in 3 with 6 contexts below
	//   cache: 0 bytes in 0 chunks, 16384 in 1 with 1 context below
	//     entry: 16384 bytes in 1 chunk
	//   listener: 0 bytes in 0 chunks, 12288 in 2 with 3 contexts below
	//     conn: 0 bytes in 0 chunks, 12288 in 2 with 2 contexts below
	//       request: 8192 bytes in 1 chunk, 12288 in 2 with 1 context below
	//         item: 4096 bytes in 1 chunk
	// in all: 28672 bytes in 3 chunks of 7 contexts
}

// showTree prints what WriteReport does of c and what is below it, but for times, high water
// and the ranking.
func showTree(c *memctx.Context) {
	var b strings.Builder
	if err := memctx.WriteReport(&b, memctx.ReportOptions{Of: c}); err != nil {
		fmt.Println(err)
	}
	tree, _, _ := strings.Cut(b.String(), "\n\n")
	for i, line := range strings.Split(tree, "\n") {
		if line, _, _ = strings.Cut(line, ", high water"); i > 0 {
			fmt.Println(line)
		}
	}
}
