package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/haven-mem/haven/bench/workload"
	"github.com/haven-mem/haven/internal/machine"
)

// Exit statuses.
const (
	statusOK          = 0
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // what shells report for a program ended by Ctrl-C
)

// Run is "haven bench" with the given arguments, over the given workloads. It
// returns the exit status: 1 after a failure of a workload or of the system, 2
// after a mistake in args or in the input, 130 when the user broke it off. It
// starts this process' executable again with [ChildCommand] as its only
// argument, and expects that to call [Child] with the same workloads.
func Run(all []workload.Workload, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := runBench(all, args, stdin, stdout, stderr)
	var bad *usageError
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(stdout, usage)
		return statusOK
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(stderr, "haven bench: interrupted; the figures are those of the rounds before")
		return statusInterrupted
	case errors.As(err, &bad):
		fmt.Fprintln(stderr, "haven bench:", bad)
		return statusUsage
	default:
		fmt.Fprintln(stderr, "haven bench:", err)
		return statusFailed
	}
}

func runBench(all []workload.Workload, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	jobs := selectJobs(all, o.cfg, o.run)
	if len(jobs) == 0 && o.run == nil {
		return errors.New("there are no workloads")
	}
	if len(jobs) == 0 {
		return usagef("-run %q matches no workload, case or variant; the workloads are %s (-list shows all)",
			o.run, workloadNames(all))
	}
	if o.list {
		return writeList(stdout, jobs)
	}

	dir, err := os.MkdirTemp("", "haven-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := o.readInput(stdin, dir); err != nil {
		return err
	}
	outputs := map[string]*output{}
	for flag, path := range map[string]string{"html": o.html, "markdown": o.markdown} {
		if path == "" {
			continue
		}
		out, err := openOutput(flag, path)
		if err != nil {
			return err
		}
		outputs[flag] = out
		defer out.discard()
	}
	// The choice is made again, now that the workloads have seen their input.
	selected, err := prepare(jobs, o.cfg, dir)
	if err != nil {
		return err
	}
	jobs = nil
	for _, w := range selected {
		jobs = append(jobs, selectJobs([]workload.Workload{w.workload}, w.cfg, o.run)...)
	}

	exe, err := os.Executable()
	if err != nil {
		return err
	}
	report := &Report{
		Schema:  schemaVersion,
		Date:    time.Now().UTC().Truncate(time.Second),
		Machine: machine.This(),
		Config:  o.cfg,
		Cases:   []*CaseResult{},
	}
	if o.cfg.InName != "" {
		report.Config.In = o.cfg.InName // not where it was spooled to
	}

	ctx, stop := interruptible()
	defer stop()
	table := newTableWriter(stdout)
	text := !o.json && !o.benchfmt
	if text {
		table.head(report)
	}
	start := time.Now()
	r := &runner{
		command:  []string{exe, ChildCommand},
		plan:     planFor(o.cfg.Quick, o.rounds, len(selected), len(all)),
		progress: newProgress(stderr),
	}
	err = r.run(ctx, jobs, func(c *CaseResult) {
		report.Cases = append(report.Cases, c)
		r.progress.clear()
		if text {
			table.block(c)
		}
	})
	r.progress.clear()
	report.ElapsedNS = int64(time.Since(start))
	report.Interrupted = errors.Is(err, errInterrupted)
	if err != nil && !report.Interrupted {
		return err
	}
	if text {
		table.foot(report)
	}
	return errors.Join(err, table.err, writeReport(o, report, stdout, outputs))
}

// writeReport writes all that is written at the end.
func writeReport(o *options, report *Report, stdout io.Writer, outputs map[string]*output) error {
	if len(report.Cases) == 0 {
		return nil // broken off before there was anything
	}
	var err error
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", " ")
		err = enc.Encode(report)
	}
	if o.benchfmt {
		err = writeBenchfmt(stdout, report)
	}
	if out := outputs["html"]; out != nil {
		err = errors.Join(err, out.write(func(w io.Writer) error { return writeHTML(w, report) }))
	}
	if out := outputs["markdown"]; out != nil {
		err = errors.Join(err, out.write(func(w io.Writer) error { return writeMarkdown(w, report) }))
	}
	return err
}

// A prepared workload has the configuration that its children get.
type prepared struct {
	workload workload.Workload
	cfg      workload.Config
}

// prepare lets the workloads of jobs make and check their input.
func prepare(jobs []job, cfg workload.Config, dir string) ([]prepared, error) {
	var all []prepared
	for i := range jobs {
		w := jobs[i].workload
		if n := len(all); n > 0 && all[n-1].workload.Name == w.Name {
			continue
		}
		p := prepared{w, cfg}
		if w.Prepare != nil {
			if err := w.Prepare(&p.cfg, dir); err != nil {
				return nil, usagef("%s: %v", w.Name, err)
			}
		}
		if w.Check != nil {
			if err := w.Check(p.cfg); err != nil {
				return nil, usagef("%s: %v", w.Name, err)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// interruptible returns a context that ends, with errInterrupted as its cause,
// when the user presses Ctrl-C or the process is asked to terminate. A second
// Ctrl-C ends the process at once.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}
