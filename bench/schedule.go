package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/haven-mem/haven/bench/workload"
)

// errInterrupted is the cause of a context that the user ended.
var errInterrupted = errors.New("interrupted")

// A job is one case with those of its variants that are to be run.
type job struct {
	workload workload.Workload
	kase     workload.Case
	cfg      workload.Config
	weight   float64 // share of the budget, relative to the other jobs; 0 for one that takes what it takes
}

func (j *job) name() string {
	if j.kase.Name == "" {
		return j.workload.Name
	}
	return j.workload.Name + "/" + j.kase.Name
}

// A runner runs jobs through child processes.
type runner struct {
	command  []string // starts a child
	plan     plan
	progress *progress
}

// run runs all jobs and hands each result to done. When ctx ends, it hands
// over what was measured of the current job and returns errInterrupted.
func (r *runner) run(ctx context.Context, jobs []job, done func(*CaseResult)) error {
	total := 0.0
	for i := range jobs {
		total += jobs[i].weight
	}
	b := budget{deadline: time.Now().Add(r.plan.budget), weight: total}
	for i := range jobs {
		j := &jobs[i]
		start := time.Now()
		r.progress.begin(j.name(), part(total-b.weight, total), part(total-b.weight+j.weight, total))
		res, err := r.runJob(ctx, j, b.share(start, j.weight))
		if res != nil {
			done(res)
			r.progress.end(res, time.Since(start))
		}
		if err != nil {
			return err
		}
		b.spent(j.weight, time.Since(start))
	}
	return nil
}

// runJob runs one case until the deadline or its last round. The result is nil
// when there is nothing to report, and may go together with errInterrupted.
func (r *runner) runJob(ctx context.Context, j *job, deadline time.Time) (*CaseResult, error) {
	c := &caseRun{runner: r, job: j, result: &CaseResult{
		Workload:    j.workload.Name,
		WorkloadDoc: j.workload.Doc,
		Case:        j.kase.Name,
		CaseDoc:     j.kase.Doc,
		Unit:        j.workload.Unit,
		Baseline:    baseline(j.kase),
		Sequential:  j.kase.Sequential,
		Concurrent:  j.kase.Concurrent,
	}}
	for _, v := range j.kase.Variants {
		c.result.Variants = append(c.result.Variants, &VariantResult{Name: v.Name})
	}
	// The baseline goes first wherever the order matters: it decides on the
	// number of passes.
	order := []int{}
	for i, v := range j.kase.Variants {
		if v.Name == c.result.Baseline {
			order = append([]int{i}, order...)
		} else {
			order = append(order, i)
		}
	}

	var err error
	if j.kase.Sequential {
		for n, i := range order {
			share := time.Until(deadline) / time.Duration(len(order)-n)
			if err = c.group(ctx, []int{i}, time.Now().Add(share)); err != nil {
				break
			}
		}
	} else {
		err = c.group(ctx, order, deadline)
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		return nil, err
	}

	kept := c.result.Variants[:0]
	for _, v := range c.result.Variants {
		if len(v.Rounds) > 0 {
			kept = append(kept, v)
		}
	}
	c.result.Variants = kept
	if len(kept) == 0 {
		return nil, err
	}
	summarize(c.result)
	judge(c.result, j.kase)
	return c.result, err
}

// baseline returns the name of the variant that the others of c are compared
// with.
func baseline(c workload.Case) string {
	if c.Baseline != "" {
		return c.Baseline
	}
	return c.Variants[0].Name
}

// A caseRun is one job in progress.
type caseRun struct {
	*runner
	job    *job
	result *CaseResult
}

// group runs the variants with the given indices, taking turns or all at once.
func (c *caseRun) group(ctx context.Context, order []int, deadline time.Time) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	procs := map[int]*process{}
	defer func() {
		for i, p := range procs {
			c.result.Variants[i].PeakRSSBytes = p.peakRSS
			p.end()
		}
	}()
	for _, i := range order {
		v := c.job.kase.Variants[i]
		c.progress.step("set-up of "+v.Name, 0)
		p, err := startProcess(ctx, c.command, c.job.name()+"/"+v.Name)
		if ctx.Err() != nil {
			if p != nil {
				p.end()
			}
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		procs[i] = p
		if _, err := p.call(ctx, request{
			Op: opSetup, Workload: c.job.workload.Name, Case: c.job.kase.Name, Variant: v.Name, Config: c.job.cfg,
		}); err != nil {
			return err
		}
	}

	if c.job.kase.Concurrent {
		err = c.together(ctx, cancel, procs, order)
	} else {
		err = c.turns(ctx, procs, order, deadline)
	}
	if err != nil {
		return err
	}

	for _, i := range order {
		rep, err := procs[i].call(ctx, request{Op: opFinish})
		if err != nil {
			return err
		}
		c.result.Variants[i].Latency = rep.Latency
	}
	return nil
}

// turns lets the processes take turns, one round each, until the deadline or
// the last round.
func (c *caseRun) turns(ctx context.Context, procs map[int]*process, order []int, deadline time.Time) error {
	// Warm-up: a single pass each, of which the first tells how many passes
	// make a round; then, if that is more than one, a whole round.
	if err := c.warmUp(ctx, procs, order); err != nil {
		return err
	}

	first := time.Now()
	for n := 0; n < c.plan.maxRounds; n++ {
		perRound := time.Duration(0)
		if n > 0 {
			perRound = time.Since(first) / time.Duration(n)
		}
		if n >= c.plan.minRounds && time.Now().Add(perRound).After(deadline) {
			break
		}
		c.progress.step(fmt.Sprintf("round %d", n+1), c.done(n, first, deadline))
		for _, i := range rotated(order, n) {
			rep, err := procs[i].call(ctx, request{Op: opRound, Passes: c.result.Passes})
			if err != nil {
				return err
			}
			v := c.result.Variants[i]
			v.Rounds = append(v.Rounds, *rep.Round)
		}
	}
	return nil
}

// done estimates how much of the case is behind it after n rounds since first:
// the case ends with its last round or at the deadline.
func (c *caseRun) done(n int, first, deadline time.Time) float64 {
	share := float64(n) / float64(c.plan.maxRounds)
	if c.plan.minRounds < c.plan.maxRounds {
		share = max(share, float64(time.Since(first))/float64(max(deadline.Sub(first), 1)))
	}
	return min(share, 1)
}

// rotated returns order beginning with its element n, counted around the end:
// no variant always follows the same other one, nor always comes first.
func rotated(order []int, n int) []int {
	n %= len(order)
	return append(slices.Clone(order[n:]), order[:n]...)
}

// warmUp runs what is not measured, and decides on the number of passes if
// that is still open.
func (c *caseRun) warmUp(ctx context.Context, procs map[int]*process, order []int) error {
	round := func(i, passes int) (time.Duration, error) {
		c.progress.step("warm-up", 0)
		rep, err := procs[i].call(ctx, request{Op: opRound, Passes: passes})
		return time.Duration(rep.WallNS), err
	}
	if c.result.Passes == 0 {
		wall, err := round(order[0], 1)
		if err != nil {
			return err
		}
		c.result.Passes = 1
		if !c.job.kase.SinglePass {
			c.result.Passes = passesFor(wall, c.plan.roundTime)
		}
		if c.result.Passes > 1 {
			// The first pass was a cold one, so there are more to a round
			// than it says.
			if wall, err = round(order[0], c.result.Passes); err != nil {
				return err
			}
			c.result.Passes = passesFor(wall/time.Duration(c.result.Passes), c.plan.roundTime)
		}
		if len(order) == 1 {
			order = nil // that was its warm-up
		} else {
			order = order[1:]
		}
	}
	for _, i := range order {
		if _, err := round(i, c.result.Passes); err != nil {
			return err
		}
	}
	for _, p := range procs {
		if _, err := p.call(ctx, request{Op: opForget}); err != nil {
			return err
		}
	}
	return nil
}

// maxPasses bounds the passes of a round.
const maxPasses = 1000

// passesFor returns how many passes of the given time make a round of at least
// the wanted time.
func passesFor(pass, want time.Duration) int {
	pass = max(pass, 1)
	return int(min(max((want+pass-1)/pass, 1), maxPasses))
}
