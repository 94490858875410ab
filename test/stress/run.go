package stress

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/haven-mem/haven/internal/machine"
)

// Exit statuses.
const (
	statusOK          = 0
	statusFound       = 1 // also: the system failed
	statusUsage       = 2
	statusInterrupted = 130
)

// Run is "haven stress" with the given arguments. It returns the exit status. It starts
// this process' executable again with [ChildCommand] as its first argument, and expects
// that to call [Child] with the others.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage())
		return statusOK
	}
	if err != nil {
		complain(stderr, err)
		return statusUsage
	}
	jsonFile, err := openJSON(o.json)
	if err != nil {
		complain(stderr, err)
		return statusUsage
	}
	if jsonFile != nil {
		defer jsonFile.Close()
	}
	exe, err := os.Executable()
	if err != nil {
		complain(stderr, err)
		return statusFound
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	text := stdout
	if o.json == "-" {
		text = io.Discard
	}
	r := o.run(ctx, exe, text, stderr)
	fmt.Fprintln(text, r.total())
	switch {
	case o.json == "-":
		err = r.writeJSON(stdout)
	case jsonFile != nil:
		err = errors.Join(r.writeJSON(jsonFile), jsonFile.Close())
	}
	if err != nil {
		complain(stderr, fmt.Errorf("-json: %w", err))
	}
	switch {
	case len(r.Findings) > 0 || err != nil:
		return statusFound
	case r.Interrupted:
		fmt.Fprintln(stderr, "haven stress: interrupted")
		return statusInterrupted
	}
	return statusOK
}

func complain(stderr io.Writer, err error) {
	fmt.Fprintln(stderr, "haven stress:", strings.Join(strings.Fields(err.Error()), " "))
}

// openJSON finds a wrong name before the run, not after it.
func openJSON(name string) (*os.File, error) {
	if name == "" || name == "-" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("-json: %w; want a file that can be written, or - for standard output", err)
	}
	return f, nil
}

// run runs each mode with each seed, and divides time and operations among them.
func (o *options) run(ctx context.Context, exe string, text, stderr io.Writer) *Report {
	r := &Report{
		Schema:     1,
		Date:       time.Now().UTC().Truncate(time.Second),
		Go:         runtime.Version(),
		Machine:    machine.This(),
		Goroutines: o.goroutines,
		Runs:       []Outcome{},
		Findings:   []*Finding{},
	}
	start := time.Now()
	p := &progress{w: stderr, start: start, next: start.Add(progressAfter)}
	left := len(o.modes) * len(o.seeds)
	for _, m := range o.modes {
		for _, seed := range o.seeds {
			t := task{Mode: m.name, Seed: seed, Goroutines: o.goroutines, Quota: quota}
			if o.duration > 0 {
				t.For = max((o.duration-time.Since(start))/time.Duration(left), time.Millisecond)
			}
			if o.ops > 0 {
				t.Ops = max((o.ops-r.Operations+int64(left)-1)/int64(left), 1)
			}
			left--
			run, finding := runChild(ctx, exe, m, t, p)
			if ctx.Err() != nil {
				r.Interrupted = true
				finding = nil // the process was killed
			}
			if finding != nil {
				run.Findings = 1
				r.Findings = append(r.Findings, finding)
				finding.write(text)
			}
			r.Operations += run.Operations
			p.before = r.Operations
			r.Runs = append(r.Runs, run)
			fmt.Fprintln(text, run.line())
			if r.Interrupted {
				r.Seconds = time.Since(start).Seconds()
				return r
			}
		}
	}
	r.Seconds = time.Since(start).Seconds()
	return r
}

// repeat returns the command that runs the program of a finding first.
func repeat(t task, seed uint64) string {
	return fmt.Sprintf("haven stress -mode %s -goroutines %d -seed %d -ops %d", t.Mode, t.Goroutines, seed, t.Quota*int64(t.Goroutines))
}
