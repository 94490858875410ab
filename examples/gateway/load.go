package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
)

// loadOptions are the arguments of the load generator.
type loadOptions struct {
	plan     load.Plan
	addr     string
	compare  bool
	json     bool
	markdown string
}

func parseLoad(args []string, stderr io.Writer) (o loadOptions, err error) {
	flags := flag.NewFlagSet("gateway load", flag.ContinueOnError)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "the gateway to send to")
	flags.BoolVar(&o.compare, "compare", false, "start a gateway on the heap and one on Haven instead, and measure them in turns: three minutes")
	quick := flags.Bool("quick", false, "shorter rounds: with -compare 20 seconds")
	rate := flags.Int("rate", load.Full.Rate, "requests per second of the rounds at a fixed rate")
	orders := flags.Int("orders", load.Full.Orders, "orders that are entered first, and stay")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.StringVar(&o.markdown, "markdown", "", "write the report to a `file` as Markdown as well")
	if err := parseArgs(flags, args, stderr); err != nil {
		return o, err
	}
	o.plan = load.Full
	if *quick {
		o.plan = load.Quick
	}
	o.plan.Rate, o.plan.Orders = *rate, *orders
	if err := o.plan.Validate(); err != nil {
		return o, wrong(flags, "%v", err)
	}
	return o, nil
}

// run sends orders to a gateway, or to both kinds, and reports what they cost.
func (o loadOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	began := time.Now()
	progress := func(step string) {
		fmt.Fprintf(stderr, "%4.0f s  %s\n", time.Since(began).Seconds(), step)
	}
	var report *load.Report
	var err error
	if o.compare {
		report, err = load.Compare(ctx, o.plan, progress)
	} else {
		report, err = load.Drive(ctx, o.addr, o.plan, progress)
	}
	if err != nil {
		return err
	}
	if o.markdown != "" {
		if err := writeMarkdown(o.markdown, report); err != nil {
			return err
		}
	}
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	return report.WriteText(stdout)
}

func writeMarkdown(name string, report *load.Report) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := report.WriteMarkdown(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
