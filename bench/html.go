package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"sub": func(a, b float64) float64 { return a - b },
	"add": func(a, b float64) float64 { return a + b },
	// px keeps the page short: a hundredth of a unit cannot be seen.
	"px": func(x float64) string { return fmt.Sprintf("%.2f", x) },
}).Parse(pageText))

// A pageCase is one section of the page.
type pageCase struct {
	Name, Doc, Heading string
	Anchor             string
	Chart, Latency     *chart
	Columns            []pageColumn
	Rows               [][]pageCell
}

type pageColumn struct {
	Title string
	Left  bool
}

type pageCell struct {
	Text   string
	Left   bool
	Family string // set in the first column
}

// writeHTML writes the report as one page that loads nothing from elsewhere.
func writeHTML(w io.Writer, r *Report) error {
	data := struct {
		Report                         *Report
		Machine, Commit, Command, Took string
		Verdict                        string
		Notes                          []string
		Overview                       *chart
		Cases                          []pageCase
	}{
		Report:  r,
		Machine: machineLine(r.Machine),
		Commit:  commitLine(r),
		Command: commandLine(r),
		Took:    formatNS(float64(r.ElapsedNS)),
		Verdict: verdictLine(r),
		Notes:   []string{intervalNote(r), otherNote},
	}
	anchors := map[*CaseResult]string{}
	for i, c := range r.Cases {
		anchors[c] = fmt.Sprintf("case%d", i+1)
		data.Cases = append(data.Cases, newPageCase(c, anchors[c]))
	}
	data.Overview = overviewChart(r, anchors)
	return page.Execute(w, data)
}

func newPageCase(c *CaseResult, anchor string) pageCase {
	pc := pageCase{
		Name: c.Name(), Doc: upperFirst(c.WorkloadDoc), Heading: upperFirst(heading(c)),
		Anchor: anchor, Chart: caseChart(c), Latency: latencyChart(c),
	}
	if c.CaseDoc != "" {
		pc.Doc = upperFirst(c.CaseDoc)
	}
	basic, further := columns(c)
	cols := append(basic, further...)
	for _, col := range cols {
		pc.Columns = append(pc.Columns, pageColumn{col.title, col.left})
	}
	for _, v := range c.Variants {
		var row []pageCell
		for i, col := range cols {
			cell := pageCell{Text: col.cell(v), Left: col.left}
			if i == 0 {
				cell.Family = family(v.Name)
			}
			row = append(row, cell)
		}
		pc.Rows = append(pc.Rows, row)
	}
	return pc
}

// verdictLine sums up all comparisons in one sentence, losses included.
func verdictLine(r *Report) string {
	var faster, slower, equal int
	for _, c := range r.Cases {
		for _, v := range c.Variants {
			switch s := v.Summary.Speedup; {
			case s == nil:
			case s.Confidence == 0 || s.holds(1):
				equal++
			case s.Median > 1:
				faster++
			default:
				slower++
			}
		}
	}
	return fmt.Sprintf("%s with the baseline: %d faster, %d slower, %d with no difference that the rounds could tell.",
		plural(int64(faster+slower+equal), "comparison"), faster, slower, equal)
}
