package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/examples/gateway/internal/load"
)

// TestMain lets load.Compare start this program as a gateway.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-memory" {
		main()
		return
	}
	os.Exit(m.Run())
}

// started is a gateway that runs in this process.
type started struct {
	addr, debug string
	stop        func()        // as an interrupt does
	stdin       io.Closer     // which a child of load.Compare has
	ended       chan struct{} // closed when run has returned
	err         error         // of run
}

func startGateway(t *testing.T, args ...string) *started {
	t.Helper()
	check.VerifyNoStale(t) // when the gateway has ended
	ctx, cancel := context.WithCancel(context.Background())
	stdinReader, stdin := io.Pipe()
	stdout, stdoutWriter := io.Pipe()
	s := &started{stop: cancel, stdin: stdin, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		defer stdoutWriter.Close()
		s.err = run(ctx, append(args, "-listen", "127.0.0.1:0", "-debug", "127.0.0.1:0"), stdinReader, stdoutWriter, io.Discard)
	}()
	t.Cleanup(func() {
		stdin.Close()
		cancel()
		<-s.ended
	})
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	rest, ok := strings.CutPrefix(lines.Text(), load.AddrPrefix)
	s.addr, _, _ = strings.Cut(rest, " ")
	lines.Scan()
	page, ok2 := strings.CutPrefix(lines.Text(), "debug page: ")
	if s.debug = page; !ok || !ok2 {
		t.Fatalf("the gateway printed no addresses: %v", s.err)
	}
	go io.Copy(io.Discard, stdout)
	return s
}

// TestServe uses a gateway and its debug page and interrupts it while a request is
// under way.
func TestServe(t *testing.T) {
	s := startGateway(t)
	carryOut(t, "http://"+s.addr, sell(10_000, 5))
	status, page := send(t, "GET", s.debug, nil)
	if status != http.StatusOK || !strings.Contains(page, "gateway") {
		t.Errorf("the debug page is %d %.200s", status, page)
	}

	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"orders":[{}]}`
	head := "POST /orders HTTP/1.1\r\nHost: gateway\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n"
	io.WriteString(conn, head)
	reply := bufio.NewReader(conn)
	line, _ := reply.ReadString('\n') // comes when the handler reads the body
	if !strings.Contains(line, "100") {
		t.Fatalf("got %q, want it to continue", line)
	}
	reply.ReadString('\n')
	s.stop()
	for refused := false; !refused; { // until the listener is closed
		c, err := net.Dial("tcp", s.addr)
		if refused = err != nil; !refused {
			c.Close()
		}
	}
	select {
	case <-s.ended:
		t.Fatalf("the gateway ended with %v while a request was under way", s.err)
	default:
	}
	io.WriteString(conn, body)
	resp, err := http.ReadResponse(reply, nil)
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("got %v and error %v, want the reply", resp, err)
	}
	<-s.ended
	if s.err != nil {
		t.Errorf("run returned %v", s.err)
	}
}

// TestChild ends when its standard input does.
func TestChild(t *testing.T) {
	s := startGateway(t, "-memory", "heap", "-"+load.ChildFlag)
	s.stdin.Close()
	<-s.ended
	if s.err != nil {
		t.Errorf("run returned %v", s.err)
	}
}

// TestAddressInUse reports a listener that cannot be.
func TestAddressInUse(t *testing.T) {
	s := startGateway(t)
	for _, args := range [][]string{{"-listen", s.addr}, {"-listen", "127.0.0.1:0", "-debug", s.addr}} {
		err := run(t.Context(), args, nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), s.addr) {
			t.Errorf("%v: error %v, want it to name the address", args, err)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"-memory arena", `unknown memory "arena" (want haven or heap)`},
		{"-memroy heap", "flag provided but not defined"},
		{"serve", `unknown argument "serve"`},
		{"load -rate 0", "0 requests per second: want 1 to 1000000"},
		{"load -orders 10", "10 orders: want 4096 to 3000000"},
		{"load now", `unknown argument "now"`},
	} {
		var stderr bytes.Buffer
		err := run(t.Context(), strings.Fields(c.args), nil, io.Discard, &stderr)
		if !errors.Is(err, errUsage) || !strings.Contains(stderr.String(), c.want) || !strings.Contains(stderr.String(), "Usage of gateway") {
			t.Errorf("%s: error %v and\n%s\nwant %s", c.args, err, &stderr, c.want)
		}
	}
	if err := run(t.Context(), []string{"-help"}, nil, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}
