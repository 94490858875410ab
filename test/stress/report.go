package stress

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/haven-mem/haven/internal/machine"
)

// A Report is the outcome of a run, and what -json writes.
type Report struct {
	Schema     int             `json:"schema"` // 1
	Date       time.Time       `json:"date"`   // of the start
	Seconds    float64         `json:"seconds"`
	Go         string          `json:"go"`
	Machine    machine.Machine `json:"machine"`
	Goroutines int             `json:"goroutines"`
	Operations int64           `json:"operations"`
	// Interrupted tells that the user stopped the run.
	Interrupted bool       `json:"interrupted,omitempty"`
	Runs        []Outcome  `json:"runs"`
	Findings    []*Finding `json:"findings"`
}

// An Outcome is one mode and one seed.
type Outcome struct {
	Mode       string  `json:"mode"`
	Seed       uint64  `json:"seed"` // of the first program
	Programs   int     `json:"programs"`
	Operations int64   `json:"operations"`
	Seconds    float64 `json:"seconds"`
	Findings   int     `json:"findings"`
}

// A Finding is something that should not be.
type Finding struct {
	Mode      string   `json:"mode"`
	Seed      uint64   `json:"seed"`      // of the program
	Goroutine int      `json:"goroutine"` // -1: not known
	Step      uint64   `json:"step"`      // of the goroutine, 1 being the first; 0: not known
	What      string   `json:"what"`
	Steps     []string `json:"steps,omitempty"`  // the goroutine's last, the latest in the end
	Output    string   `json:"output,omitempty"` // stack, or standard error of a process that crashed
	Repeat    string   `json:"repeat"`           // the command
}

func (f *Finding) write(w io.Writer) {
	fmt.Fprintf(w, "FOUND in mode %s, program %d", f.Mode, f.Seed)
	if f.Goroutine >= 0 {
		fmt.Fprintf(w, ", goroutine %d, step %d", f.Goroutine, f.Step)
	}
	fmt.Fprintf(w, ":\n  %s\n", f.What)
	if len(f.Steps) > 0 {
		fmt.Fprintf(w, "the steps before, the last one in the end:\n  %s\n", strings.Join(f.Steps, "\n  "))
	}
	if f.Output != "" {
		fmt.Fprintf(w, "output:\n  %s\n", strings.ReplaceAll(strings.TrimRight(f.Output, "\n"), "\n", "\n  "))
	}
	fmt.Fprintf(w, "to repeat it: %s\n", f.Repeat)
}

// line is a run in a line.
func (r *Outcome) line() string {
	return fmt.Sprintf("%-12s seed %d: %s operations in %d programs and %.1f s, %.2f million a second, findings: %d",
		r.Mode, r.Seed, grouped(r.Operations), r.Programs, r.Seconds, float64(r.Operations)/max(r.Seconds, 1e-9)/1e6, r.Findings)
}

// total is the last line of the text.
func (r *Report) total() string {
	return fmt.Sprintf("%s operations in %.1f s with %d goroutines on %s, findings: %d",
		grouped(r.Operations), r.Seconds, r.Goroutines, r.Go, len(r.Findings))
}

func (r *Report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
