package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
)

// runServe starts a gateway and its debug page and runs them until ctx ends, or one
// fails.
func runServe(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	memory := flags.String("memory", "haven", "where orders and requests are: haven or heap")
	listen := flags.String("listen", "127.0.0.1:8080", "address of the gateway")
	debug := flags.String("debug", "127.0.0.1:8081", "address of the debug page")
	child := flags.Bool(load.ChildFlag, false, "stop when standard input ends, as those who start a gateway for a while want it")
	if err := parseArgs(flags, args, stderr); err != nil {
		return err
	}
	g, ok := newGateway(*memory)
	if !ok {
		return wrong(flags, "unknown memory %q (want haven or heap)", *memory)
	}
	if *child {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			io.Copy(io.Discard, stdin)
			stop()
		}()
	}

	gl, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	dl, err := net.Listen("tcp", *debug)
	if err != nil {
		gl.Close()
		return err
	}
	fmt.Fprintf(stdout, "%s%s (orders and requests on %s)\n", load.AddrPrefix, gl.Addr(), *memory)
	fmt.Fprintf(stdout, "debug page: http://%s/debug/haven/\n", dl.Addr())
	return serve(ctx, map[*http.Server]net.Listener{
		g.server():    gl,
		debugServer(): dl,
	})
}

// grace is how long requests that are under way may take when the servers stop.
const grace = 5 * time.Second

// serve runs servers until ctx ends, and then lets what is under way end.
func serve(ctx context.Context, servers map[*http.Server]net.Listener) error {
	failed := make(chan error, len(servers))
	for s, l := range servers {
		go func() { failed <- s.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for s := range servers {
		if e := s.Shutdown(stop); err == nil && e != nil {
			err = errors.Join(fmt.Errorf("requests were under way after %v", grace), s.Close())
		}
	}
	return err
}
