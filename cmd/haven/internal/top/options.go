package top

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	defaultInterval = time.Second
	minInterval     = 100 * time.Millisecond
)

// options is the command line once read.
type options struct {
	url      *url.URL // of the JSON
	view     *view
	sort     string // a key of view
	rows     int    // most rows of a table; 0: what fits
	interval time.Duration
	repeat   bool // -interval was given: readings are printed again and again
	once     bool
	json     bool
}

const acceptedFlags = "accepted: -view name, -sort key, -n rows, -interval time, -once, -json, -h"

// parseArgs reads the command line. The error is flag.ErrHelp or a mistake of
// the user's, which says what is accepted.
func parseArgs(args []string) (options, error) {
	var o options
	var viewName string
	var addresses []string
	flags := flag.NewFlagSet("top", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&viewName, "view", views[0].name, "")
	flags.StringVar(&o.sort, "sort", "", "")
	flags.IntVar(&o.rows, "n", 0, "")
	flags.DurationVar(&o.interval, "interval", defaultInterval, "")
	flags.BoolVar(&o.once, "once", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	// Flags may stand before and after the address.
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return o, err
			}
			return o, fmt.Errorf("%v; %s", err, acceptedFlags)
		}
		if flags.NArg() == 0 {
			break
		}
		addresses = append(addresses, flags.Arg(0))
		args = flags.Args()[1:]
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.repeat = given["interval"]

	switch len(addresses) {
	case 0:
		return o, fmt.Errorf("no address given; %s (-h for help)", acceptedAddress)
	case 1:
	default:
		return o, fmt.Errorf("unexpected argument %q after the address; accepted: one address, and flags", addresses[1])
	}
	var err error
	if o.url, err = statsURL(addresses[0]); err != nil {
		return o, err
	}
	if o.view = viewNamed(viewName); o.view == nil {
		return o, fmt.Errorf("-view %q: no such view; accepted: %s", viewName, strings.Join(viewNames(), ", "))
	}
	if !given["sort"] {
		o.sort = o.view.sorts[0]
	}
	if !slices.Contains(o.view.sorts, o.sort) {
		return o, fmt.Errorf("-sort %q: view %s has no such key; accepted: %s", o.sort, o.view.name, strings.Join(o.view.sorts, ", "))
	}
	if o.rows < 0 {
		return o, fmt.Errorf("-n %d; accepted: 0 for what fits, or a number of rows", o.rows)
	}
	if o.interval < minInterval {
		return o, fmt.Errorf("-interval %v; accepted: %v or more", o.interval, minInterval)
	}
	if o.once && o.repeat {
		return o, errors.New("-once and -interval contradict each other; accepted: one of them")
	}
	if o.json {
		for _, name := range []string{"view", "sort", "n"} {
			if given[name] {
				return o, fmt.Errorf("-%s chooses what of a reading is shown, and -json prints all of it; accepted: one of them", name)
			}
		}
	}
	return o, nil
}
