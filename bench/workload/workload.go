// Package workload holds the programs that haven bench runs through several
// allocators, and the registry the harness finds them in.
//
// A [Workload] is a list of cases, a [Case] a list of variants, and a
// [Variant] makes an [Instance], which does one [Round] of work at a time. The
// harness, package bench, gives every variant a process of its own, so an
// instance may keep any amount of memory alive without disturbing the others.
// A workload never measures what the harness measures for it: wall time,
// allocations, collections, the collector's CPU time and peak memory.
package workload

import (
	"fmt"
	"slices"
	"time"
)

// A Workload is one program run through several allocators.
//
// The functions in it are called from one goroutine at a time. They are called
// in the parent process, which lists and checks, and again in each child,
// which measures: for equal configurations they must give equal answers.
type Workload struct {
	// Name is one lower-case word, such as "tree". It is unique.
	Name string

	// Doc is one line without a full stop, for the list and the headings.
	Doc string

	// Unit says what Round.Ops counts: "object", "request", "cycle", "byte".
	// With "byte" the time is shown as MB/s, otherwise as ns per unit.
	Unit string

	// Check, if not nil, reports what is wrong with the input before anything
	// runs. The error is printed on one line and the program ends with status
	// 2. It runs in the parent, after Prepare.
	Check func(cfg Config) error

	// Prepare, if not nil, runs once in the parent before anything else, for
	// work that the children would otherwise each repeat: it may write files
	// into dir, which is removed at the end of the run, and set cfg.In and
	// cfg.InName to one of them. The cfg is this workload's own copy. An error
	// is treated as one of Check.
	Prepare func(cfg *Config, dir string) error

	// Cases lists the rows for a configuration. It must be cheap: the work of
	// building data belongs in Setup.
	Cases func(cfg Config) []Case
}

// A Case is a group of variants that are compared with each other.
type Case struct {
	// Name is "" for a workload with one case, otherwise key=value pairs
	// joined by slashes, such as "type=int/gc=quiet".
	Name string

	// Doc is an optional line without a full stop that goes with the heading.
	Doc string

	// Baseline is the name of the variant the others are compared with.
	// Empty means the first one.
	Baseline string

	// Variants has at least one element; names are unique within the case.
	Variants []Variant

	// Sequential runs the variants one after the other, each process ended
	// before the next begins, instead of taking turns round by round. For
	// cases whose processes are too large to be in memory together. Ratios
	// are then between rounds that did not run side by side, and so noisier.
	Sequential bool

	// Concurrent runs the variants at the same time, and each of them once:
	// a single round of one pass, without a warm-up, unless the command line
	// asks for more rounds. For cases whose rounds last long because they
	// wait: processes that sleep do not disturb each other. The rounds begin a
	// moment apart, so that the work at their beginning does not coincide. The
	// time this takes is added to the time budget of the run. Not together
	// with Sequential.
	Concurrent bool

	// SinglePass makes a measured round exactly one call of Instance.Round.
	// Otherwise the harness calls it several times, the same number for
	// every variant of the case, when one call is too short to be timed well.
	SinglePass bool
}

// A Variant is one way of allocating the memory of a case.
type Variant struct {
	// Name is such as "new", "arena", "arena+reset", "arena+pool", "lane",
	// "bump". It has no slash and no space.
	Name string

	// Setup makes the instance. It runs in the variant's own process and is
	// not timed. An error ends the run.
	Setup func() (Instance, error)

	// Targets are the figures this variant is meant to reach. Only the
	// published tables show them.
	Targets []Target
}

// An Instance does a variant's work.
type Instance interface {
	// Round does the work once and reports it in r, which comes zeroed but
	// for an empty histogram. Ops must be set; everything else is optional.
	// All goroutines that Round starts must have ended when it returns.
	Round(r *Round)

	// Close drops what the instance holds. It is called once, after the last
	// round, and is not timed.
	Close()
}

// A Round is what one call of [Instance.Round] reports. The harness measures
// time, allocations and collections around the call by itself.
type Round struct {
	// Ops is the number of units (see [Workload].Unit) done. Positive.
	Ops int64

	// Elapsed, if positive, replaces the wall time of the whole call: set it
	// when only a part of the call is to be timed.
	Elapsed time.Duration

	// Latencies collects the time of single units by Latencies.Add, for the
	// percentiles over all rounds. Never nil; adding does not allocate.
	Latencies *Histogram

	// extra holds the further figures; see SetExtra.
	extra []Extra
}

// An Extra is a further figure of a round, such as {"release-ns", 1200}. The
// end of the name gives the unit: -ns, -bytes, or -ns/cycle and the like.
type Extra struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// SetExtra records a further figure of this round under a name whose end gives
// the unit: "release-ns", "metadata-bytes", "gc-cpu-ns/cycle". It becomes a
// column of its own; rounds are averaged when several make up one measurement.
// A second call with the same name replaces the value.
func (r *Round) SetExtra(name string, value float64) {
	for i := range r.extra {
		if r.extra[i].Name == name {
			r.extra[i].Value = value
			return
		}
	}
	r.extra = append(r.extra, Extra{name, value})
}

// Extras returns the figures in the order of their first SetExtra. The slice
// is the round's own.
func (r *Round) Extras() []Extra { return r.extra }

// Clear makes r ready for the next round. It keeps the histogram, which adds
// up over rounds, and the memory of the extra figures.
func (r *Round) Clear() {
	*r = Round{Latencies: r.Latencies, extra: r.extra[:0]}
}

// Names of the metrics that a [Target] can ask for, beside the names given to
// [Round.SetExtra].
const (
	MetricTime   = "time"   // ns per unit
	MetricAllocs = "allocs" // heap allocations per unit
	MetricBytes  = "bytes"  // heap bytes allocated per unit
	MetricGCs    = "gcs"    // collections per round
	MetricGCCPU  = "gc-cpu" // ns of the collector's CPU time per round
	MetricRSS    = "rss"    // peak resident bytes of the process
	MetricP50    = "p50"    // ns per unit, over all rounds
	MetricP99    = "p99"
	MetricP999   = "p99.9"
)

// A Bound says on which side of its value a target is met.
type Bound uint8

const (
	// AtLeast, with Against set, asks for an improvement: the other variant's
	// figure divided by this one's, so that 7 is "seven times faster" or
	// "seven times less". Without Against it bounds the figure itself.
	AtLeast Bound = iota

	// AtMost, with Against set, bounds this variant's figure divided by the
	// other one's. Without Against it bounds the figure itself.
	AtMost
)

// A Target is a figure that a variant is meant to reach. A ratio of exactly 1
// asks for "no worse" and counts as met unless the confidence interval lies
// wholly on the wrong side; other targets are judged by the median alone.
type Target struct {
	Metric  string // MetricTime and so on, or the name of an Extra
	Against string // name of another variant of the case; empty: absolute
	Bound   Bound
	Value   float64 // a ratio, or the metric's own unit when Against is empty
}

// Config is what the command line says. The zero value is the default run.
type Config struct {
	// Quick asks for smaller data, so that a whole run takes under 20 s.
	Quick bool `json:"quick,omitempty"`

	// In is the path of the input file of jsontree; empty means the
	// workload's own default. Standard input has been spooled to a file.
	In string `json:"in,omitempty"`

	// InName is how messages call In: the path as the user gave it, or
	// "standard input".
	InName string `json:"in_name,omitempty"`

	// Depth is the depth of the trees of workload tree; 0 means its default.
	Depth int `json:"depth,omitempty"`
}

var registry []Workload

// Register adds w to the workloads that [All] returns. It is meant for init
// functions and is not safe for concurrent use. It panics when w has no name
// or no cases, or when the name is taken.
func Register(w Workload) {
	if w.Name == "" || w.Cases == nil {
		panic(fmt.Sprintf("workload: Register of %q without a name or cases", w.Name))
	}
	if slices.ContainsFunc(registry, func(o Workload) bool { return o.Name == w.Name }) {
		panic(fmt.Sprintf("workload: Register of %q twice", w.Name))
	}
	registry = append(registry, w)
}

// order is the order in which workloads are run and shown: those of arenas and
// then those of slabs and pools, each from the smallest program to the largest.
// Names that are not in it come last, by name.
var order = []string{
	"sizes", "tree", "chain", "fresh", "small", "request", "types", "uneven", "spike", "kept", "routes", "resident", "jsontree", "reset", "append", "shared", "contexts",
	"slabpair", "transfer", "churn", "payment", "burst", "handles",
}

// All returns the registered workloads in the order they are run and shown.
// The slice is the caller's.
func All() []Workload {
	rank := func(w Workload) int {
		if i := slices.Index(order, w.Name); i >= 0 {
			return i
		}
		return len(order)
	}
	all := slices.Clone(registry)
	slices.SortStableFunc(all, func(a, b Workload) int {
		if ra, rb := rank(a), rank(b); ra != rb {
			return ra - rb
		}
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}
