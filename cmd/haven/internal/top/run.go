package top

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// lookEvery is how often the size of the terminal is looked at.
const lookEvery = 200 * time.Millisecond

// Run runs the command with the arguments after the word "top" and returns the
// exit status: 0; 1 if the program cannot be read at the start or the output
// cannot be written; 2 for bad input; 128 and the signal's number if one ended it.
// With 1 and 2 there is one line on stderr.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseArgs(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err != nil {
		complain(stderr, err)
		return 2
	}
	ctx, stop := signalled()
	defer stop()
	err = run(ctx, o, stdin, stdout, stderr)
	var by *signalError
	switch {
	case errors.As(context.Cause(ctx), &by):
		return 128 + int(by.signal)
	case err != nil:
		complain(stderr, err)
		return 1
	}
	return 0
}

func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "haven top: %s\n", printable(strings.Join(strings.Fields(err.Error()), " ")))
}

// A signalError is the cause why a context ended.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return e.signal.String() }

// signalled returns a context that ends when a signal wants the process to.
func signalled() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(&signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

// run is Run after the command line is read. The first reading comes before the
// terminal is taken over, so what is wrong with it is on an ordinary screen.
func run(ctx context.Context, o options, stdin io.Reader, stdout, stderr io.Writer) error {
	source := newSource(o.url)
	first, err := source.read(ctx)
	if err != nil {
		return err
	}
	if !o.once && !o.json {
		if in, out, ok := terminals(stdin, stdout); ok {
			return interact(ctx, o, source, first, in, out)
		}
	}
	return printed(ctx, o, source, first, stdout, stderr)
}

// target is how the title names an address.
func target(u *url.URL) string {
	return u.Host + strings.TrimSuffix(strings.TrimSuffix(u.Path, statsFile), pagePath)
}

// interact shows the screen until the user quits or ctx ends.
func interact(ctx context.Context, o options, source *source, first *reading, in, out *os.File) error {
	s, err := openScreen(in, out)
	if err != nil {
		return fmt.Errorf("the terminal cannot be taken over: %w", err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys := make(chan []key)
	go s.guard(func() { readKeys(ctx, in, keys) })
	tick, look := time.NewTicker(o.interval), time.NewTicker(lookEvery)
	defer tick.Stop()
	defer look.Stop()

	st := newState(o)
	st.last, st.colour = first, os.Getenv("NO_COLOR") == ""
	l := &loop{
		state: st, read: source.read, size: s.size, show: s.show,
		keys: keys, tick: tick.C, look: look.C, now: time.Now, guard: s.guard,
	}
	err = l.run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // a signal, which Run finds
	}
	return errors.Join(err, s.Close())
}
