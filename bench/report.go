package bench

import (
	"time"

	"github.com/haven-mem/haven/bench/workload"
	"github.com/haven-mem/haven/internal/machine"
)

// schemaVersion is the value of Report.Schema. Raise it when a field changes
// its meaning or goes away, not when one is added.
const schemaVersion = 1

// A Report is the outcome of one run, and what -json prints.
type Report struct {
	Schema int       `json:"schema"`
	Date   time.Time `json:"date"` // start of the run
	// ElapsedNS is how long the run took, set-up included.
	ElapsedNS int64           `json:"elapsed_ns"`
	Machine   machine.Machine `json:"machine"`
	// Config is what the command line asked for.
	Config workload.Config `json:"config"`
	// Interrupted tells that the user stopped the run: cases are missing and
	// the last one may be short of rounds.
	Interrupted bool          `json:"interrupted,omitempty"`
	Cases       []*CaseResult `json:"cases"`
}

// A CaseResult is what was measured for one case of a workload.
type CaseResult struct {
	Workload    string `json:"workload"`
	WorkloadDoc string `json:"workload_doc"`
	Case        string `json:"case,omitempty"`
	CaseDoc     string `json:"case_doc,omitempty"`
	Unit        string `json:"unit"`     // what ops counts
	Baseline    string `json:"baseline"` // name of a variant
	// Passes is how many calls of the workload make up a round.
	Passes     int              `json:"passes"`
	Sequential bool             `json:"sequential,omitempty"`
	Concurrent bool             `json:"concurrent,omitempty"`
	Variants   []*VariantResult `json:"variants"`
}

// Name returns "workload" or "workload/case".
func (c *CaseResult) Name() string {
	if c.Case == "" {
		return c.Workload
	}
	return c.Workload + "/" + c.Case
}

// variant returns the variant called name, or nil.
func (c *CaseResult) variant(name string) *VariantResult {
	for _, v := range c.Variants {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// maxRounds returns the number of rounds of the variant that has most.
func (c *CaseResult) maxRounds() int {
	n := 0
	for _, v := range c.Variants {
		n = max(n, len(v.Rounds))
	}
	return n
}

// A VariantResult is what was measured for one variant of a case.
type VariantResult struct {
	Name string `json:"name"`
	// PeakRSSBytes is 0 where the system does not tell.
	PeakRSSBytes int64          `json:"peak_rss_bytes,omitempty"`
	Latency      *Latency       `json:"latency,omitempty"`
	Summary      Summary        `json:"summary"`
	Targets      []TargetResult `json:"targets,omitempty"`
	Rounds       []RoundResult  `json:"rounds"`
}

// A RoundResult is one measured round: the sum over its passes.
type RoundResult struct {
	Ops        int64  `json:"ops"`
	NS         int64  `json:"ns"`
	Mallocs    uint64 `json:"mallocs"`
	AllocBytes uint64 `json:"alloc_bytes"`
	GCs        uint32 `json:"gcs"`
	GCCPUNS    int64  `json:"gc_cpu_ns"`      // idle-priority marking included
	GCIdleNS   int64  `json:"gc_idle_cpu_ns"` // its idle-priority part
	// Extras are the workload's own figures: the mean over the passes.
	Extras []workload.Extra `json:"extras,omitempty"`
}

// A Latency holds percentiles over the single operations of all rounds.
type Latency struct {
	Count  uint64 `json:"count"`
	P50NS  int64  `json:"p50_ns"`
	P99NS  int64  `json:"p99_ns"`
	P999NS int64  `json:"p99_9_ns"`
}

// A Summary condenses the rounds of a variant.
type Summary struct {
	// Time is in nanoseconds per unit, for the unit "byte" too.
	Time Interval `json:"time_ns_per_unit"`
	// Speedup is the baseline's time divided by this variant's, paired by
	// rounds: above 1 means faster. Nil for the baseline itself.
	Speedup *Interval `json:"speedup,omitempty"`
	// AllocsPerOp and BytesPerOp are medians over the rounds.
	AllocsPerOp float64 `json:"allocs_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	// GCs and GCCPUNS are means over the rounds, per round.
	GCs     float64 `json:"gcs_per_round"`
	GCCPUNS float64 `json:"gc_cpu_ns_per_round"`
	// Extras holds the medians of the workload's own figures.
	Extras []workload.Extra `json:"extras,omitempty"`
}

// An Interval is a median with the interval that holds the true one at the
// given level of confidence.
type Interval struct {
	Median     float64 `json:"median"`
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	Confidence float64 `json:"confidence"`
}

// A TargetResult is a declared target and what became of it.
type TargetResult struct {
	Text     string `json:"text"`     // "≥ 7× faster than new"
	Measured string `json:"measured"` // "7.6×", or "n/a"
	Met      bool   `json:"met"`
	Known    bool   `json:"known"` // false when a figure is missing
	// ByInterval tells that the median misses the target and the interval holds it.
	ByInterval bool `json:"by_interval,omitempty"`
}
