// Command peers runs one program on Haven's arenas and on what others use in their place,
// side by side:
//
//	go run ./bench/peers
//
// It takes the arguments of haven bench (see -h). The program makes documents: objects of
// three types that point to each other, with short lists that grow. The peers are Go's
// heap; a sync.Pool of arenas, in place of Haven's Pool; a chunk list for each type, as
// people write it by hand; the arenas of github.com/ortuman/nuke; and, where this command
// is built with GOEXPERIMENT=arenas, package arena of the standard library.
//
// Not all of them keep the same promises. The memory of nuke is not scanned by the
// garbage collector, as that of package bump: nothing in it may be the only pointer to
// what lies elsewhere. It has a size that the program must know in advance; beyond it
// values come from Go's heap, which would not be safe here, so the size is that of the
// largest document. The chunk list keeps what it has for good.
package main

import (
	"os"

	"github.com/haven-mem/haven/bench"
	"github.com/haven-mem/haven/bench/workload"
)

func main() {
	all := []workload.Workload{{
		Name:  "peers",
		Doc:   "documents of three types with lists, one after the other",
		Unit:  "object",
		Cases: cases,
	}}
	if len(os.Args) == 2 && os.Args[1] == bench.ChildCommand {
		os.Exit(bench.Child(all, os.Stdin, os.Stdout))
	}
	os.Exit(bench.Run(all, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
