// Package shapecmd is the command "haven shape": it prints size, alignment and
// pointer bits of types given by name, as package shape does for the types of
// a running program.
//
// Types are checked from source, dependencies included and function bodies
// left out, so nothing is compiled, no export data has to match the Go version
// the command was built with, and any architecture can be asked about.
package shapecmd

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"io"
	"runtime"
	"strings"
)

const usage = `usage: haven shape [flags] type ...
       haven shape [flags] ./package [type ...]

Shape prints size, alignment and pointer bits of types: one bit for each word,
first word first, 1 where the garbage collector finds a pointer.

A type is any Go type expression; quote it for the shell:
    haven shape any '[3]string' 'map[int]string' 'struct{ a bool; s string }'
Types of packages are written with the import path; for the standard library
the last part is enough when only one package has it:
    haven shape time.Time net/http.Request http.Header example.org/module/pkg.Name
When the first argument starts with . or / it is the directory of a package,
and the types are those of that package, unexported ones too. With no type
after it, all of the package's types are shown:
    haven shape ./parser Node '[]token' 'List[int]'

Rows of more than 64 bits have repeat counts: (10){1000} is 10 a thousand
times. A type of size zero has the bits "-".

flags:
    -arch name   architecture, as in GOARCH (default: this machine's)
    -fields      show the fields of structs, with padding; on for a single type
    -json        print JSON
    -h           print this help
`

// architectures that "gc" compiles for.
var architectures = []string{
	"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle",
	"ppc64", "ppc64le", "riscv64", "s390x", "wasm",
}

// options is the command line once read.
type options struct {
	arch   string
	sizes  types.Sizes
	fields bool
	json   bool
	dir    string   // package directory, "" without one
	exprs  []string // type expressions; with dir, none means all types
}

// Run runs the command with the arguments after the word "shape" and returns
// the exit status: 0, or 2 for bad input, with one line on stderr then. Nothing
// is written to stdout in that case.
func Run(args []string, stdout, stderr io.Writer) int {
	opts, err := parseArgs(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	var rows []row
	if err == nil {
		rows, err = shapes(opts)
	}
	if err == nil {
		err = write(stdout, opts, rows)
	}
	if err != nil {
		message := strings.Join(strings.Fields(err.Error()), " ")
		fmt.Fprintf(stderr, "haven shape: %s\n", message)
		return 2
	}
	return 0
}

func parseArgs(args []string) (options, error) {
	var opts options
	flags := flag.NewFlagSet("shape", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opts.arch, "arch", runtime.GOARCH, "")
	flags.BoolVar(&opts.fields, "fields", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	// Flags may stand between and after the types: no type starts with "-".
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return opts, err
			}
			return opts, fmt.Errorf("%v; accepted: -arch name, -fields, -json, -h", err)
		}
		if flags.NArg() == 0 {
			break
		}
		arg := flags.Arg(0)
		args = flags.Args()[1:]
		switch {
		case opts.dir == "" && len(opts.exprs) == 0 && (strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/")):
			opts.dir = arg
		case strings.TrimSpace(arg) == "":
			return opts, errors.New("empty argument; accepted: type expressions such as 'map[int]string' or time.Time")
		default:
			opts.exprs = append(opts.exprs, arg)
		}
	}
	if opts.dir == "" && len(opts.exprs) == 0 {
		return opts, errors.New("no type given; accepted: type expressions such as 'map[int]string' or time.Time, or ./package and types of it (-h for help)")
	}
	opts.sizes = types.SizesFor("gc", opts.arch)
	if opts.sizes == nil {
		return opts, fmt.Errorf("-arch %q: no such architecture; accepted: %s", opts.arch, strings.Join(architectures, ", "))
	}
	return opts, nil
}
