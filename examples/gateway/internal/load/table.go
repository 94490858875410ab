package load

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%s\n\n", r.Machine, r.setting())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head, part := r.head(), ""
	for _, row := range r.Rows {
		if row.Part != part {
			if part != "" {
				fmt.Fprintln(t)
			}
			part = row.Part
			fmt.Fprintf(t, "%s\t%s\n", part, strings.Join(head, "\t"))
		}
		fmt.Fprintf(t, "  %s\t%s\n", row.Name, strings.Join(row.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Targets) > 0 {
		fmt.Fprintln(w)
	}
	for _, target := range r.Targets {
		fmt.Fprintf(w, "%s: %s, %s\n", target.Text, target.Measured, target.verdict())
	}
	if len(r.Notes) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(r.Notes, "\n"))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", footnote)
	return err
}

// WriteMarkdown writes the report for BENCHMARKS.md.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| | |\n|---|---|\n| Machine | %s |\n| Go | %s |\n", r.Machine, r.Machine.Go)
	commit := ""
	if r.Machine.Commit != "" {
		commit = "commit " + r.Machine.Commit + ", "
	}
	fmt.Fprintf(&b, "| Haven | %s%s |\n| Setting | %s |\n", commit, r.Started.Format("2006-01-02 15:04 UTC"), r.setting())
	if len(r.Targets) > 0 {
		b.WriteString("\n| target | measured | |\n|---|--:|---|\n")
		for _, t := range r.Targets {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", t.Text, t.Measured, t.verdict())
		}
	}
	part := ""
	for _, row := range r.Rows {
		if row.Part != part {
			part = row.Part
			fmt.Fprintf(&b, "\n| %s | %s |\n|---|%s\n", part, strings.Join(r.head(), " | "), strings.Repeat("--:|", len(r.head())))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", row.Name, strings.Join(row.cells(), " | "))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n**%s.**\n", note)
	}
	fmt.Fprintf(&b, "\n%s\n", footnote)
	_, err := io.WriteString(w, b.String())
	return err
}

// setting says what was sent to what.
func (r *Report) setting() string {
	done := 0
	var instructions float64
	for _, res := range r.Results {
		for _, rounds := range [][]Round{res.Steady, res.Fast} {
			for _, x := range rounds {
				done += x.Requests
				instructions += float64(x.Instructions)
			}
		}
	}
	return fmt.Sprintf("%s resting orders, batches of 1 to 64 instructions (%.1f on average), %d connections, %v in all",
		thousands(float64(r.Plan.Orders)), instructions/float64(max(done, 1)), r.Plan.Clients, r.Took.Round(time.Second))
}

// head has the titles of the columns.
func (r *Report) head() []string {
	var head []string
	for _, res := range r.Results {
		head = append(head, res.Memory)
	}
	if len(r.Results) == 2 {
		head = append(head, r.Results[0].Memory+" ÷ "+r.Results[1].Memory)
	}
	return head
}

// cells has the values of the columns.
func (row Row) cells() []string {
	var cells []string
	for _, v := range row.Values {
		cells = append(cells, row.Unit.formatSpread(v))
	}
	if len(row.Values) == 2 {
		cells = append(cells, formatRatio(row.Ratio))
	}
	return cells
}

func (t Target) verdict() string {
	if t.Met {
		return "met"
	}
	return "**missed**"
}

const footnote = "Medians of the rounds, with their range. A ratio is the median of those of neighbouring " +
	"rounds. Latencies count from the time at which a request was due. CPU is that of the gateway's process, " +
	"user and system. GC CPU is what Go's runtime estimates, of all rounds together."
