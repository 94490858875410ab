package stress

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Bounds of the flags.
const (
	maxGoroutines = 1024
	maxSeeds      = 10_000
	maxSeedFile   = 1 << 20 // bytes
)

const defaultFor = 10 * time.Second

// options is the command line once read.
type options struct {
	duration   time.Duration // 0: no bound
	ops        int64         // 0: no bound
	seeds      []uint64
	modes      []mode
	goroutines int
	json       string // "": none; "-": standard output
}

const acceptedFlags = "the flags are -for DURATION, -ops N, -seed N, -seedfile FILE, -mode NAME[,NAME], -goroutines N, -json FILE and -h"

const acceptedSeed = "a whole number from 0 to 18446744073709551615, or in hexadecimal with 0x in front"

func usage() string {
	var b strings.Builder
	b.WriteString(`Usage: haven stress [flags]

Runs random programs over all of Haven's packages with many goroutines, and
verifies every byte they read: values in linked chains that grow, shrink, move
from one memory to another, go through channels and are freed in time, and new
memory, which must be zero. Each mode runs in a process of its own, so that a
crash is a finding, too.

  -for DURATION    how long, all modes and seeds together; 10s if neither this
                   nor -ops is given
  -ops N           how many operations, all modes and seeds together: each
                   allocation, free, verified read or move of a value, and reset
  -seed N          what all choices follow from; 1 if not given
  -seedfile FILE   several seeds, one in a line; empty lines and what follows #
                   do not count
  -mode NAME,...   the weather, plain if not given; all is each in turn
  -goroutines N    of each program, 1 to 1024; 8 if not given
  -json FILE       also write a report; - is standard output, instead of the text

The modes are
`)
	for _, m := range modes {
		fmt.Fprintf(&b, "  %-12s %s\n", m.name, m.doc)
	}
	b.WriteString(`
A run is many programs, of the seed, the one after it, and so on. A finding names
the program's seed and the command that runs this program first. With -goroutines
1 it takes the same steps again; with more, the choices of each goroutine are the
same, and when they happen is up to the scheduler.

The exit status is 0 if nothing was found, 1 if something was, 2 for mistakes in
the flags or the seed file.
`)
	return b.String()
}

// parseOptions reads the command line and the seed file. The error is flag.ErrHelp or
// a mistake of the user's, which says what is accepted.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	var seed, seedFile, names string
	fs := flag.NewFlagSet("haven stress", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.DurationVar(&o.duration, "for", 0, "")
	fs.Int64Var(&o.ops, "ops", 0, "")
	fs.StringVar(&seed, "seed", "1", "")
	fs.StringVar(&seedFile, "seedfile", "", "")
	fs.StringVar(&names, "mode", modes[0].name, "")
	fs.IntVar(&o.goroutines, "goroutines", 8, "")
	fs.StringVar(&o.json, "json", "", "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%v; %s", err, acceptedFlags)
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: the command takes flags only; %s", fs.Arg(0), acceptedFlags)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["for"] && o.duration <= 0:
		return nil, fmt.Errorf("-for %v: want a time above 0, such as 90s or 10m", o.duration)
	case given["ops"] && o.ops < 1:
		return nil, fmt.Errorf("-ops %d: want a number of operations, 1 or more", o.ops)
	case o.goroutines < 1 || o.goroutines > maxGoroutines:
		return nil, fmt.Errorf("-goroutines %d: want a whole number from 1 to %d", o.goroutines, maxGoroutines)
	case given["json"] && o.json == "":
		return nil, errors.New(`-json "": want the name of a file, or - for standard output`)
	case given["seed"] && given["seedfile"]:
		return nil, errors.New("-seed and -seedfile both say where the choices come from: give one of them")
	}
	if !given["for"] && !given["ops"] {
		o.duration = defaultFor
	}
	var err error
	if o.modes, err = parseModes(names); err != nil {
		return nil, err
	}
	if given["seedfile"] {
		o.seeds, err = readSeeds(seedFile)
		return o, err
	}
	n, err := strconv.ParseUint(seed, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("-seed %q: want %s", seed, acceptedSeed)
	}
	o.seeds = []uint64{n}
	return o, nil
}

func parseModes(names string) ([]mode, error) {
	var list []mode
	for _, name := range strings.Split(names, ",") {
		if name == "all" {
			list = append(list, modes...)
			continue
		}
		m, ok := modeNamed(name)
		if !ok {
			return nil, fmt.Errorf("-mode %q: there is no mode %q; accepted: %s, all, or several with commas between", names, name, modeNames())
		}
		list = append(list, m)
	}
	return list, nil
}

// readSeeds reads a seed file.
func readSeeds(name string) ([]uint64, error) {
	const want = "want a text file with a seed in each line: " + acceptedSeed
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-seedfile: %v; %s", err, want)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSeedFile+1))
	if err != nil {
		return nil, fmt.Errorf("-seedfile: %v; %s", err, want)
	}
	if len(text) > maxSeedFile {
		return nil, fmt.Errorf("-seedfile: %s has more than %d bytes; %s", name, maxSeedFile, want)
	}
	var seeds []uint64
	line := 0
	for content := range bytes.Lines(text) {
		line++
		content, _, _ = bytes.Cut(content, []byte("#"))
		word := string(bytes.TrimSpace(content))
		if word == "" {
			continue
		}
		n, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("-seedfile: %s:%d: %.40q is no seed; %s", name, line, word, want)
		}
		seeds = append(seeds, n)
	}
	if len(seeds) == 0 || len(seeds) > maxSeeds {
		return nil, fmt.Errorf("-seedfile: %s has %d seeds, want 1 to %d; %s", name, len(seeds), maxSeeds, want)
	}
	return seeds, nil
}
