package bench

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// defaultWidth is the width of the text table where the output is no terminal.
const defaultWidth = 120

// A tableWriter writes the report for people, block by block as the cases are
// done. The first error sticks.
type tableWriter struct {
	w     io.Writer
	width int
	err   error
}

func newTableWriter(w io.Writer) *tableWriter {
	width := terminalWidth(w)
	if width == 0 {
		width = defaultWidth
	}
	return &tableWriter{w: w, width: width}
}

func (t *tableWriter) write(s string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, s)
	}
}

// head writes what comes before the blocks.
func (t *tableWriter) head(r *Report) {
	t.write(machineLine(r.Machine) + "\n" + commitLine(r) + "\n")
}

// block writes one case.
func (t *tableWriter) block(c *CaseResult) {
	var b strings.Builder
	doc := c.WorkloadDoc
	if c.CaseDoc != "" {
		doc = c.CaseDoc
	}
	fmt.Fprintf(&b, "\n%s: %s\n  %s\n\n", c.Name(), doc, heading(c))
	basic, further := columns(c)
	all := renderColumns(append(basic[:len(basic):len(basic)], further...), c.Variants)
	if lineWidth(all) <= t.width {
		writeLines(&b, all)
	} else {
		writeLines(&b, renderColumns(basic, c.Variants))
		b.WriteByte('\n')
		writeLines(&b, renderColumns(append(basic[:1:1], further...), c.Variants))
	}
	t.write(b.String())
}

// foot writes what comes after the blocks.
func (t *tableWriter) foot(r *Report) {
	elapsed := time.Duration(r.ElapsedNS).Round(100 * time.Millisecond)
	t.write(fmt.Sprintf("\n%s\n%s\nThe run took %s.\n", intervalNote(r), otherNote, elapsed))
}

// renderColumns returns the lines of a table: a heading and one per variant.
// Columns are two spaces apart and as wide as their widest cell.
func renderColumns(cols []column, variants []*VariantResult) []string {
	lines := make([]string, len(variants)+1)
	for i := range lines {
		lines[i] = " "
	}
	for _, col := range cols {
		cells := []string{col.title}
		for _, v := range variants {
			cells = append(cells, col.cell(v))
		}
		width := 0
		for _, cell := range cells {
			width = max(width, utf8.RuneCountInString(cell))
		}
		for i, cell := range cells {
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			if col.left {
				lines[i] += "  " + cell + pad
			} else {
				lines[i] += "  " + pad + cell
			}
		}
	}
	for i, line := range lines {
		// The margin is two: one of it is the first column's gap.
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, " "), " ")
	}
	return lines
}

func lineWidth(lines []string) int {
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	return width
}

func writeLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}
