package bench

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/bench/workload"
)

func TestRotated(t *testing.T) {
	order := []int{4, 7, 9}
	var got [][]int
	for n := range 4 {
		got = append(got, rotated(order, n))
	}
	if want := "[[4 7 9] [7 9 4] [9 4 7] [4 7 9]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// A process at rest is one that has been quiet for two steps in a row.
func TestAwaitQuiet(t *testing.T) {
	const step = time.Millisecond
	for _, tc := range []struct {
		name  string
		used  []time.Duration // CPU time of each step; the last one goes on
		known bool
		steps int
	}{
		{"quiet", []time.Duration{0}, true, 2},
		{"nearly quiet", []time.Duration{step / 10}, true, 2},
		{"marking on two cores", []time.Duration{2 * step, 2 * step, 2 * step, 0}, true, 5},
		{"a pause in between", []time.Duration{step, 0, step, 0}, true, 5},
		{"never quiet", []time.Duration{step}, true, int(restLimit / step)},
		{"unknown", []time.Duration{0}, false, 10},
	} {
		var total time.Duration
		steps := 0
		awaitQuiet(func() (time.Duration, bool) { return total, tc.known }, func() time.Duration {
			total += tc.used[min(steps, len(tc.used)-1)]
			steps++
			return step
		})
		if steps != tc.steps {
			t.Errorf("%s: %d steps, want %d", tc.name, steps, tc.steps)
		}
	}
}

func TestPlans(t *testing.T) {
	full, quick := planFor(false, 0, 8, 8), planFor(true, 0, 8, 8)
	if full.budget >= 2*time.Minute || quick.budget >= 20*time.Second {
		t.Errorf("budgets %v and %v leave no room", full.budget, quick.budget)
	}
	if part := planFor(false, 0, 1, 8); part.budget != full.budget/4 {
		t.Errorf("one of eight workloads gets %v of %v", part.budget, full.budget)
	}
	if full.waitRounds != 1 || quick.waitRounds != 1 {
		t.Errorf("%d and %d rounds that wait", full.waitRounds, quick.waitRounds)
	}
	if fixed := planFor(true, 9, 8, 8); fixed.minRounds != 9 || fixed.maxRounds != 9 || fixed.waitRounds != 9 {
		t.Errorf("with nine rounds asked for: %+v", fixed)
	}
}

func TestJobsShareTheTimeByWorkload(t *testing.T) {
	variants := []workload.Variant{{Name: "new"}}
	all := []workload.Workload{
		{Name: "one", Cases: func(workload.Config) []workload.Case { return []workload.Case{{Variants: variants}} }},
		{Name: "four", Cases: func(workload.Config) []workload.Case {
			return []workload.Case{{Name: "a", Variants: variants}, {Name: "b", Variants: variants}, {Name: "c", Variants: variants}, {Name: "d", Variants: variants}}
		}},
	}
	all = append(all, workload.Workload{Name: "waits", Cases: func(workload.Config) []workload.Case {
		return []workload.Case{{Name: "a", Variants: variants}, {Name: "b", Variants: variants, Concurrent: true}, {Name: "c", Variants: variants}}
	}})
	var weights []float64
	for _, j := range selectJobs(all, workload.Config{}, nil) {
		weights = append(weights, j.weight)
	}
	if want := []float64{1, 0.25, 0.25, 0.25, 0.25, 0.5, 0, 0.5}; !slices.Equal(weights, want) {
		t.Errorf("weights %v, want %v", weights, want)
	}
}

func TestBudget(t *testing.T) {
	now := time.Unix(1000, 0)
	b := budget{deadline: now.Add(30 * time.Second), weight: 3}
	want := func(what string, weight float64, seconds int) {
		t.Helper()
		if got := b.share(now, weight).Sub(now); got != time.Duration(seconds)*time.Second {
			t.Errorf("%s: %v, want %d s", what, got, seconds)
		}
	}
	want("a third", 1, 10)
	want("one that waits", 0, 0)
	now = now.Add(60 * time.Second)
	b.spent(0, 60*time.Second)
	want("a third, after one that waited a minute", 1, 10)
	now = now.Add(4 * time.Second)
	b.spent(1, 4*time.Second)
	want("a half of what one left", 1, 13)
	now = now.Add(20 * time.Second)
	b.spent(1, 20*time.Second)
	want("the last", 1, 6)
	b.spent(1, 6*time.Second)
	want("nothing is left", 0, 0)
}

func TestProgressOnATerminal(t *testing.T) {
	var buf bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &buf, width: 30, now: func() time.Time { return now }, start: now}
	p.begin("tree", 0.5, 0.7)
	p.step("too soon to be drawn", 0.1)
	now = now.Add(65 * time.Second)
	p.step("round 12 of a long name that is cut off", 0.5)
	p.end(&CaseResult{}, 0)
	p.clear()
	want := "\r\x1b[K 50%  0:00  tree" + "\r\x1b[K 60%  1:05  tree  round 12 of" + "\r\x1b[K"
	if got := buf.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, line := range strings.Split(buf.String(), "\r\x1b[K") {
		if len(line) >= p.width {
			t.Errorf("%q fills the line of %d columns", line, p.width)
		}
	}
}
