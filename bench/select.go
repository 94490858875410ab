package bench

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/haven-mem/haven/bench/workload"
)

// selectJobs returns a job for each case with a variant whose full name,
// workload/case/variant, matches re; nil matches everything. The baseline of
// such a case is always among the job's variants. Each workload has the same
// share of the time, divided among its cases; those that are Concurrent are not
// in the budget, as no share makes their waiting shorter.
func selectJobs(all []workload.Workload, cfg workload.Config, re *regexp.Regexp) []job {
	var jobs []job
	for _, w := range all {
		first, sharing := len(jobs), 0
		for _, c := range w.Cases(cfg) {
			if c.Variants = selectVariants(w, c, re); len(c.Variants) == 0 {
				continue
			}
			jobs = append(jobs, job{workload: w, kase: c, cfg: cfg})
			if !c.Concurrent {
				sharing++
			}
		}
		for i := first; i < len(jobs); i++ {
			if !jobs[i].kase.Concurrent {
				jobs[i].weight = 1 / float64(sharing)
			}
		}
	}
	return jobs
}

func selectVariants(w workload.Workload, c workload.Case, re *regexp.Regexp) []workload.Variant {
	if re == nil || len(c.Variants) == 0 {
		return c.Variants
	}
	base := baseline(c)
	var kept []workload.Variant
	matched := false
	for _, v := range c.Variants {
		hit := re.MatchString(fullName(w, c, v))
		matched = matched || hit
		if hit || v.Name == base {
			kept = append(kept, v)
		}
	}
	if !matched {
		return nil
	}
	return kept
}

// fullName is what -run is matched against.
func fullName(w workload.Workload, c workload.Case, v workload.Variant) string {
	if c.Name == "" {
		return w.Name + "/" + v.Name
	}
	return w.Name + "/" + c.Name + "/" + v.Name
}

func workloadNames(all []workload.Workload) string {
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	return strings.Join(names, ", ")
}

// writeList prints what there is to run.
func writeList(w io.Writer, jobs []job) error {
	var b strings.Builder
	last := ""
	for i := range jobs {
		j := &jobs[i]
		if j.workload.Name != last {
			last = j.workload.Name
			fmt.Fprintf(&b, "%-10s %s\n", j.workload.Name, j.workload.Doc)
		}
		var names []string
		for _, v := range j.kase.Variants {
			names = append(names, v.Name)
		}
		fmt.Fprintf(&b, "    %s: %s\n", j.name(), strings.Join(names, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
