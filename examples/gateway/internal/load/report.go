package load

import (
	"fmt"
	"time"
)

// A Report is what Compare and Drive found. It is marshalled to JSON as it is;
// times are in nanoseconds, memory in bytes.
type Report struct {
	Machine Machine
	Started time.Time
	Took    time.Duration
	Plan    Plan
	Results []*Result // of Compare: heap, haven
	Rows    []Row
	Targets []Target // of Compare only
	Notes   []string // what to know before one believes the rows
}

// A Row is a line of the report's table.
type Row struct {
	Part   string // what was done: rows of one part follow each other
	Name   string
	Unit   Unit
	Values []Spread // one for each result
	Ratio  Spread   // of Compare: the first result over the second
}

// A Unit says how the values of a row are written.
type Unit string

// The units of rows.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "bytes"
	PerSecond   Unit = "1/s"
	Count       Unit = "count"
)

// A Target is what the comparison is expected to show.
type Target struct {
	Text     string
	Measured string
	Met      bool
}

// addNotes names the gateways that did not keep up with the fixed rate.
func (r *Report) addNotes() {
	for _, res := range r.Results {
		for i, x := range res.Steady {
			if got := perSecond(x); got < 0.98*float64(r.Plan.Rate) {
				r.Notes = append(r.Notes, fmt.Sprintf("%s fell behind in round %d, with %s of %s requests/s: its latencies are those of a queue",
					res.Memory, i+1, thousands(got), thousands(float64(r.Plan.Rate))))
			}
		}
	}
}

func newReport(plan Plan, began time.Time, gateways []*gateway) *Report {
	r := &Report{Machine: thisMachine(), Started: began.UTC(), Took: time.Since(began), Plan: plan}
	for _, g := range gateways {
		r.Results = append(r.Results, g.result)
	}
	r.addRows()
	r.addNotes()
	if len(r.Results) == 2 {
		r.addTargets()
	}
	return r
}
