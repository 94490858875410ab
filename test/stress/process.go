package stress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// runChild runs a task in a process of its own. If that ends otherwise than it should,
// this is a finding.
func runChild(ctx context.Context, exe string, m mode, t task, p *progress) (Outcome, *Finding) {
	start := time.Now()
	last, output, err := follow(ctx, exe, m, t, p)
	f := last.Finding
	if f == nil && err != nil {
		f = &Finding{Mode: t.Mode, Seed: last.Seed, Goroutine: -1, What: fmt.Sprintf("the process of the programs: %v", err), Output: output}
	}
	if f != nil {
		f.Repeat = repeat(t, f.Seed)
	}
	return Outcome{Mode: t.Mode, Seed: t.Seed, Programs: last.Programs, Operations: last.Ops, Seconds: time.Since(start).Seconds()}, f
}

// follow starts the process and reads its events until it has ended. It returns the
// last one, and what was written to standard error.
func follow(ctx context.Context, exe string, m mode, t task, p *progress) (last event, output string, err error) {
	last.Seed = t.Seed
	arg, err := json.Marshal(t)
	if err != nil {
		return last, "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, exe, ChildCommand, string(arg))
	cmd.Env = m.environment()
	var stderr clipped
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return last, "", err
	}
	if err := cmd.Start(); err != nil {
		return last, "", err
	}
	// For a process whose own watch does not work any more.
	watchdog := time.AfterFunc(2*patience, func() { cancel(fmt.Errorf("silent for %v", 2*patience)) })
	defer watchdog.Stop()
	dec := json.NewDecoder(stdout)
	for {
		var e event
		if err = dec.Decode(&e); err != nil {
			break
		}
		watchdog.Reset(2 * patience)
		last = e
		p.tell(t.Mode, e)
	}
	if errors.Is(err, io.EOF) && last.Done {
		err = nil
	}
	// How it ended says more than what its last line was.
	if wait := cmd.Wait(); wait != nil {
		err = wait
	} else if errors.Is(err, io.EOF) {
		err = errors.New("ended before it was done")
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return last, stderr.String(), err
}

// clipped keeps the first and the last clipLimit bytes written to it: a crash says why
// in the beginning, and a sanitizer in the end.
type clipped struct {
	head, tail []byte
	lost       bool
}

const clipLimit = 8 << 10

func (c *clipped) Write(p []byte) (int, error) {
	n := min(len(p), clipLimit-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[n:]...)
	if extra := len(c.tail) - clipLimit; extra > 0 {
		c.tail = append(c.tail[:0], c.tail[extra:]...)
		c.lost = true
	}
	return len(p), nil
}

func (c *clipped) String() string {
	gap := ""
	if c.lost {
		gap = "\n…\n"
	}
	return string(bytes.ToValidUTF8(c.head, nil)) + gap + string(bytes.ToValidUTF8(c.tail, nil))
}

const (
	progressAfter = 2 * time.Second
	progressEvery = 3 * time.Second
)

// A progress says on standard error how far a run is, if it takes longer.
type progress struct {
	w      io.Writer
	start  time.Time
	next   time.Time
	before int64 // operations of what has ended
}

func (p *progress) tell(mode string, e event) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	took := now.Sub(p.start)
	fmt.Fprintf(p.w, "haven stress: %3.0f s, %s operations, mode %s, program %d\n", took.Seconds(), grouped(p.before+e.Ops), mode, e.Seed)
}
