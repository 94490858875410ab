package bench

import "github.com/haven-mem/haven/bench/workload"

// ChildCommand is the argument that makes the executable serve one variant
// over standard input and output instead of being a command for people.
const ChildCommand = "__bench-child"

// The parent and a child exchange one JSON object a line: the parent sends a
// request, the child answers it with one reply, in that order, until the
// parent sends opFinish or closes the pipe.

type op string

const (
	opSetup  op = "setup"  // make the instance; the first request
	opRound  op = "round"  // do Passes passes and report them
	opForget op = "forget" // drop the latencies so far: the warm-up is over
	opFinish op = "finish" // close the instance, report and exit
)

type request struct {
	Op op `json:"op"`

	// For opSetup.
	Workload string          `json:"workload,omitempty"`
	Case     string          `json:"case,omitempty"`
	Variant  string          `json:"variant,omitempty"`
	Config   workload.Config `json:"config,omitzero"`

	// For opRound.
	Passes int `json:"passes,omitempty"`
}

type reply struct {
	// Error tells why the request failed; the child ends after it.
	Error string `json:"error,omitempty"`

	// For opRound.
	Round  *RoundResult `json:"round,omitempty"`
	WallNS int64        `json:"wall_ns,omitempty"` // of all passes, whatever the workload timed

	// PeakRSS comes with every reply, so that it is known of a child that is
	// killed, too.
	PeakRSS int64 `json:"peak_rss,omitempty"`

	// For opFinish, when there are any latencies.
	Latency *Latency `json:"latency,omitempty"`
}
