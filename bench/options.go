package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/haven-mem/haven/bench/workload"
)

// Bounds of the numeric flags.
const (
	maxRoundsFlag = 1000
	maxDepthFlag  = 24
)

// options is the command line of haven bench.
type options struct {
	cfg      workload.Config
	run      *regexp.Regexp // nil: everything
	rounds   int            // 0: as the plan says
	list     bool
	json     bool
	benchfmt bool
	html     string // path; empty: none
	markdown string
}

// A usageError is a mistake on the command line or in the input: one line on
// standard error and exit status 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")}
}

// acceptedFlags is the list that messages about flags end in.
const acceptedFlags = "the flags are -quick, -run REGEXP, -rounds N, -in FILE, -depth N, -json, -benchfmt, -html FILE, -markdown FILE, -list and -h"

const usage = `Usage: haven bench [flags]

Runs programs that allocate through several allocators, side by side, and
prints how they compare with new: time, allocations, collector work, memory.

  -quick          smaller data and fewer rounds: under 20 seconds in all
  -run REGEXP     only what matches, in workload/case/variant; see -list
  -rounds N       exactly N rounds of everything, however long that takes
  -in FILE        JSON document for workload jsontree; - is standard input
  -depth N        depth of the trees of workload tree, 1 to 24
  -json           print raw rounds and summaries as one JSON object
  -benchfmt       print Go benchmark lines, one per round, for benchstat
  -html FILE      also write a self-contained page with charts
  -markdown FILE  also write the tables and targets as Markdown
  -list           print the workloads, their cases and variants, and stop
`

// parseOptions reads the command line. The error is a *usageError or
// flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	var run string
	fs := flag.NewFlagSet("haven bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.BoolVar(&o.cfg.Quick, "quick", false, "")
	fs.StringVar(&run, "run", "", "")
	fs.IntVar(&o.rounds, "rounds", 0, "")
	fs.StringVar(&o.cfg.In, "in", "", "")
	fs.IntVar(&o.cfg.Depth, "depth", 0, "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.BoolVar(&o.benchfmt, "benchfmt", false, "")
	fs.StringVar(&o.html, "html", "", "")
	fs.StringVar(&o.markdown, "markdown", "", "")
	fs.BoolVar(&o.list, "list", false, "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, usagef("%v; %s", err, acceptedFlags)
	}
	if fs.NArg() > 0 {
		return nil, usagef("unexpected argument %q: the command takes flags only; %s", fs.Arg(0), acceptedFlags)
	}

	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["rounds"] && (o.rounds < 1 || o.rounds > maxRoundsFlag) {
		return nil, usagef("-rounds %d: want a whole number from 1 to %d", o.rounds, maxRoundsFlag)
	}
	if given["depth"] && (o.cfg.Depth < 1 || o.cfg.Depth > maxDepthFlag) {
		return nil, usagef("-depth %d: want a whole number from 1 to %d", o.cfg.Depth, maxDepthFlag)
	}
	for name, value := range map[string]string{"in": o.cfg.In, "html": o.html, "markdown": o.markdown} {
		if given[name] && value == "" {
			return nil, usagef("-%s \"\": want the name of a file", name)
		}
	}
	if o.json && o.benchfmt {
		return nil, usagef("-json and -benchfmt both write to standard output: give one of them")
	}
	if given["run"] {
		re, err := regexp.Compile(run)
		if err != nil {
			return nil, usagef("-run %q: %v; want a regular expression such as ^tree/", run, err)
		}
		o.run = re
	}
	return o, nil
}

// readInput makes o.cfg.In a file that the children can read: standard input
// is spooled into dir. It does nothing without -in.
func (o *options) readInput(stdin io.Reader, dir string) error {
	switch o.cfg.In {
	case "":
		return nil
	case "-":
		o.cfg.InName = "standard input"
		f, err := os.CreateTemp(dir, "stdin-")
		if err != nil {
			return err
		}
		_, err = io.Copy(f, stdin)
		if err = errors.Join(err, f.Close()); err != nil {
			return usagef("-in -: %v; want a JSON document on standard input", err)
		}
		o.cfg.In = f.Name()
		return nil
	}
	o.cfg.InName = o.cfg.In
	f, err := os.Open(o.cfg.In)
	if err == nil {
		// Reading tells a directory from a file on every system.
		_, err = f.Read(make([]byte, 1))
		f.Close()
		if err == io.EOF {
			err = nil // an empty file is for the workload to judge
		}
	}
	if err != nil {
		return usagef("-in: %v; want a file with a JSON document, or - for standard input", err)
	}
	return nil
}

// An output is a file that is written at the end of the run. Opening it at the
// start finds a wrong name before two minutes have passed, and leaves what an
// older file holds alone until there is something to replace it.
type output struct {
	path    string
	created bool
}

// openOutput checks that path can be written.
func openOutput(flag, path string) (*output, error) {
	_, err := os.Stat(path)
	o := &output{path: path, created: errors.Is(err, os.ErrNotExist)}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, usagef("-%s: %v; want a file that can be written", flag, err)
	}
	return o, f.Close()
}

// write replaces the file's content.
func (o *output) write(render func(io.Writer) error) error {
	var buf bytes.Buffer
	if err := render(&buf); err != nil {
		return fmt.Errorf("%s: %w", o.path, err)
	}
	o.created = false
	return os.WriteFile(o.path, buf.Bytes(), 0o666)
}

// discard removes the file if opening made it and nothing was written.
func (o *output) discard() {
	if o.created {
		os.Remove(o.path)
	}
}
