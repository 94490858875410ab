package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// A process is the parent's side of a child that serves one variant.
type process struct {
	name    string // workload/case/variant, for messages
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	enc     *json.Encoder
	dec     *json.Decoder
	stderr  clippedBuffer
	peakRSS int64 // latest known
}

// startProcess runs command, the executable and its arguments, as a child with
// this process' environment. The child is killed when ctx ends.
func startProcess(ctx context.Context, command []string, name string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.stdin = stdin
	p.enc = json.NewEncoder(stdin)
	p.dec = json.NewDecoder(bufio.NewReader(stdout))
	return p, nil
}

// call sends req and waits for the reply. After an error the process is gone.
func (p *process) call(ctx context.Context, req request) (reply, error) {
	var rep reply
	err := p.enc.Encode(req)
	if err == nil {
		err = p.dec.Decode(&rep)
	}
	if err != nil {
		// The pipe broke: the child's own words and its exit status say more
		// than the pipe's error does.
		if wait := p.end(); wait != nil {
			err = wait
		} else if errors.Is(err, io.EOF) {
			err = errors.New("ended without a reply")
		}
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		return reply{}, p.failure(err)
	}
	p.peakRSS = max(p.peakRSS, rep.PeakRSS)
	if rep.Error != "" {
		p.end()
		return reply{}, p.failure(errors.New(rep.Error))
	}
	return rep, nil
}

// failure describes an error of the child together with what it wrote to
// standard error.
func (p *process) failure(err error) error {
	if out := strings.TrimRight(p.stderr.String(), "\n"); out != "" {
		return fmt.Errorf("%s: %w; its standard error was:\n%s", p.name, err, out)
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// end closes the pipe to the child, which makes it exit, and waits for it. It
// may be called more than once.
func (p *process) end() error {
	if p.cmd == nil {
		return nil
	}
	p.stdin.Close()
	err := p.cmd.Wait()
	p.cmd = nil
	return err
}

// A clippedBuffer keeps the first clipLimit bytes written to it: where a crash
// report has the reason. The zero value is ready.
type clippedBuffer struct {
	buf     bytes.Buffer
	clipped bool
}

const clipLimit = 8 << 10

func (b *clippedBuffer) Write(p []byte) (int, error) {
	room := clipLimit - b.buf.Len()
	b.buf.Write(p[:min(room, len(p))])
	b.clipped = b.clipped || len(p) > room
	return len(p), nil
}

func (b *clippedBuffer) String() string {
	if b.clipped {
		return b.buf.String() + "\n…"
	}
	return b.buf.String()
}
