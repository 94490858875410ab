package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/vitals"
)

// What a gateway and those who start one agree on.
const (
	ChildFlag  = "child"            // the flag that makes a gateway stop when its standard input ends
	AddrPrefix = "gateway: http://" // what it prints before its address
)

// Stats is what a gateway replies to GET /stats.
type Stats struct {
	vitals.Vitals
	Market market.Counts
}

// A process is a gateway that was started to be measured.
type process struct {
	addr   string
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	output chan struct{} // closed when its standard output has ended
}

// start runs this program as a gateway with the given memory, and waits until it
// listens.
func start(ctx context.Context, memory string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{output: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, exe, "-memory", memory, "-listen", "127.0.0.1:0", "-debug", "127.0.0.1:0", "-"+ChildFlag)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	first := make(chan string, 1)
	go func() {
		defer close(p.output)
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		first <- line
		io.Copy(io.Discard, r)
	}()
	select {
	case line := <-first:
		rest, ok := strings.CutPrefix(line, AddrPrefix)
		if !ok {
			return nil, errors.Join(fmt.Errorf("gateway on %s did not say where it listens, but %q", memory, line), p.stop())
		}
		p.addr, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
		return p, nil
	case <-time.After(patience):
		p.cmd.Process.Kill()
		return nil, errors.Join(fmt.Errorf("gateway on %s did not start within %v", memory, patience), p.stop())
	}
}

// stop ends the gateway and returns an error if it did not end well.
func (p *process) stop() error {
	p.stdin.Close()
	<-p.output
	err := p.cmd.Wait()
	if err != nil && p.stderr.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(p.stderr.Bytes()))
	}
	return err
}

// stats asks a gateway for its numbers.
func stats(ctx context.Context, addr string) (Stats, error) {
	var s Stats
	return s, get(ctx, addr, "/stats", &s)
}

// check makes a gateway look at all of its orders.
func check(ctx context.Context, addr string) error {
	var v struct{ Resting int }
	return get(ctx, addr, "/check", &v)
}

// get fetches JSON.
func get(ctx context.Context, addr, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", path, resp.Status, bytes.TrimSpace(body))
	}
	return json.Unmarshal(body, v)
}
