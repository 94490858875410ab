package bench

import (
	"context"
	"fmt"
	"time"
)

// stagger is how long after each other the rounds of a Concurrent case begin.
const stagger = 150 * time.Millisecond

// together runs the rounds of a Concurrent case: all processes at the same
// time. When one fails, cancel ends the others, which would otherwise go on
// waiting for as long as a round takes.
func (c *caseRun) together(ctx context.Context, cancel context.CancelCauseFunc, procs map[int]*process, order []int) error {
	c.result.Passes = 1
	for n := range c.plan.waitRounds {
		if err := c.roundTogether(ctx, cancel, procs, rotated(order, n), n); err != nil {
			return err
		}
	}
	return nil
}

// roundTogether runs round n of all processes and returns the first error.
func (c *caseRun) roundTogether(ctx context.Context, cancel context.CancelCauseFunc, procs map[int]*process, order []int, n int) error {
	type outcome struct {
		variant int
		round   *RoundResult
		err     error
	}
	outcomes := make(chan outcome)
	for k, i := range order {
		go func() {
			select {
			case <-time.After(time.Duration(k) * stagger):
			case <-ctx.Done():
				outcomes <- outcome{err: context.Cause(ctx)}
				return
			}
			rep, err := procs[i].call(ctx, request{Op: opRound, Passes: 1})
			outcomes <- outcome{i, rep.Round, err}
		}()
	}

	redraw := time.NewTicker(time.Second)
	defer redraw.Stop()
	var first error
	for left := len(order); left > 0; {
		c.progress.step(fmt.Sprintf("round %d, %d running", n+1, left), 0)
		select {
		case <-redraw.C:
		case o := <-outcomes:
			left--
			switch {
			case o.err == nil:
				v := c.result.Variants[o.variant]
				v.Rounds = append(v.Rounds, *o.round)
			case first == nil:
				first = o.err
				cancel(first)
			}
		}
	}
	return first
}
