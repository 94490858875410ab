// Command haven shows what Haven's allocators buy on the machine at hand, how the
// types of a program lie in memory, and where a running program has its memory. And
// it looks for bugs of Haven itself. Each command explains itself with -h.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/haven-mem/haven/bench"
	"github.com/haven-mem/haven/bench/workload"
	"github.com/haven-mem/haven/cmd/haven/internal/shapecmd"
	"github.com/haven-mem/haven/cmd/haven/internal/top"
	"github.com/haven-mem/haven/test/stress"
)

// A command is one word that may follow "haven".
type command struct {
	name, doc string
	run       func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

var commands = []command{
	{"bench", "compare allocators on programs and on your own JSON", runBench},
	{"shape", "show size, alignment and pointer words of types", runShape},
	{"stress", "look for bugs of Haven itself, for as long as you like", runStress},
	{"top", "watch the memory of a running program", runTop},
	{"version", "print the version", runVersion},
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintf(stderr, "haven: no command given; the commands are %s\n", names())
		return 2
	}
	switch args[0] {
	case bench.ChildCommand:
		return bench.Child(workload.All(), stdin, stdout)
	case stress.ChildCommand:
		return stress.Child(args[1:], stdout)
	case "help", "-h", "-help", "--help":
		return runHelp(stdout)
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(args[1:], stdin, stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "haven: unknown command %q; the commands are %s\n", args[0], names())
	return 2
}

func names() string {
	var list []string
	for _, c := range commands {
		list = append(list, c.name)
	}
	return strings.Join(append(list, "help"), ", ")
}

func runHelp(stdout io.Writer) int {
	fmt.Fprint(stdout, "Usage: haven <command> [arguments]\n\n")
	for _, c := range commands {
		fmt.Fprintf(stdout, "  %-9s %s\n", c.name, c.doc)
	}
	fmt.Fprint(stdout, "\nhaven <command> -h explains a command.\n")
	return 0
}

func runBench(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return bench.Run(workload.All(), args, stdin, stdout, stderr)
}

func runShape(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return shapecmd.Run(args, stdout, stderr)
}

func runStress(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return stress.Run(args, stdout, stderr)
}

func runTop(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return top.Run(args, stdin, stdout, stderr)
}

func runVersion(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(stderr, "haven version: unexpected argument %q: the command takes none\n", args[0])
		return 2
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(stdout, "haven %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return 0
}
