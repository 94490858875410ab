// Gateway is an exchange's order gateway, with all that Haven has in one program:
// a memory context for each request, with an arena for what it is made of; a pool
// for each P of the buffers it is read into; and a table of slabs for the orders
// that rest, a million of them, which the garbage collector does not look at.
//
//	go run ./examples/gateway
//	go run ./examples/gateway -memory heap
//
// starts it, on Haven or on Go's heap: the same program, with the memory that Go
// programs have. Package wire has the format of a request; this is one:
//
//	curl -d '{"orders":[{"op":"new","account":"acct-0001","ref":"r1","symbol":"HVN000",
//	  "side":"buy","tif":"gtc","price":9999,"quantity":5}]}' http://127.0.0.1:8080/orders
//
// GET /book/HVN000, /stats and /check show what is in it. A batch is carried out as
// a whole or, if anything is wrong with it, not at all.
//
//	go run ./examples/gateway load
//	go run ./examples/gateway load -compare -quick
//	go run ./examples/gateway load -compare
//
// sends orders to a gateway that runs, or starts both kinds and measures them side
// by side, in 20 seconds or three minutes. Package load says how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// errUsage says that the arguments were wrong, and that the user was told.
var errUsage = errors.New("wrong arguments")

// run does what the arguments say.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "load" {
		o, err := parseLoad(args[1:], stderr)
		if err != nil {
			return err
		}
		return o.run(ctx, stdout, stderr)
	}
	return runServe(ctx, args, stdin, stdout, stderr)
}

// parseArgs parses flags; nothing may be left over.
func parseArgs(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if flags.NArg() > 0 {
		return wrong(flags, "unknown argument %q", flags.Arg(0))
	}
	return nil
}

// wrong tells the user what is wrong with the arguments.
func wrong(flags *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(flags.Output(), format+"\n", args...)
	flags.Usage()
	return errUsage
}
