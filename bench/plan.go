package bench

import "time"

// A plan bounds the rounds and the time of a run.
type plan struct {
	minRounds, maxRounds int
	waitRounds           int           // of a case that is Concurrent
	budget               time.Duration // for the whole run; soft: minRounds comes first
	roundTime            time.Duration // a round of the baseline is made at least this long
}

// planFor returns the plan for a run of some of the known workloads. The
// budgets leave room, below the documented two minutes and 20 seconds, for
// cases whose smallest number of rounds is more than their share, and for
// those that wait.
func planFor(quick bool, rounds, selected, known int) plan {
	p := plan{minRounds: 6, maxRounds: 25, budget: 80 * time.Second, roundTime: 20 * time.Millisecond}
	if quick {
		p = plan{minRounds: 3, maxRounds: 15, budget: 11 * time.Second, roundTime: 8 * time.Millisecond}
	}
	if known > 0 {
		// A part of the workloads gets up to twice its share of the time.
		p.budget = min(p.budget, 2*p.budget*time.Duration(selected)/time.Duration(known))
	}
	p.waitRounds = 1
	if rounds > 0 {
		p.minRounds, p.maxRounds, p.waitRounds = rounds, rounds, rounds
	}
	return p
}

// A budget is the time that is left for a run, and for how much.
type budget struct {
	deadline time.Time
	weight   float64 // of the jobs that are not done
}

// share returns the deadline of a job that starts now: its share of what is
// left. A job that got by with less leaves more to those after it.
func (b *budget) share(now time.Time, weight float64) time.Time {
	return now.Add(time.Duration(float64(b.deadline.Sub(now)) * part(weight, b.weight)))
}

// spent takes a job that is done out of the budget. One without weight, which
// takes what it takes, leaves the others the time they had.
func (b *budget) spent(weight float64, took time.Duration) {
	b.weight -= weight
	if weight == 0 {
		b.deadline = b.deadline.Add(took)
	}
}

// part returns the part that x is of all, 0 when there is nothing.
func part(x, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return x / all
}
