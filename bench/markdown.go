package bench

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown writes the report as bench/results keeps it: where it comes from,
// the targets and what became of them, then a table for each case.
func writeMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	row := func(key, value string) { fmt.Fprintf(&b, "| %s | %s |\n", key, cell(value)) }
	row("Machine", machineLine(r.Machine))
	row("Go", r.Machine.GoVersion)
	row("Haven", commitLine(r))
	row("Command", "`"+commandLine(r)+"`")
	if r.Interrupted {
		row("Note", "broken off before its end")
	}

	if hasTargets(r) {
		b.WriteString("\n## Targets\n\n| work | variant | target | measured | |\n|---|---|---|--:|---|\n")
		for _, c := range r.Cases {
			for _, v := range c.Variants {
				for _, t := range v.Targets {
					fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
						cell(c.Name()), cell(v.Name), cell(t.Text), cell(t.Measured), verdict(t))
				}
			}
		}
	}

	for _, c := range r.Cases {
		doc := c.WorkloadDoc
		if c.CaseDoc != "" {
			doc = c.CaseDoc
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s.\n\n", c.Name(), upperFirst(doc), upperFirst(heading(c)))
		writeMarkdownTable(&b, c)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", intervalNote(r), otherNote)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMarkdownTable(b *strings.Builder, c *CaseResult) {
	basic, further := columns(c)
	cols := append(basic, further...)
	for _, v := range c.Variants {
		if len(v.Targets) > 0 {
			cols = append(cols, column{"targets", true, targetsCell})
			break
		}
	}
	var head, rule strings.Builder
	for _, col := range cols {
		fmt.Fprintf(&head, "| %s ", cell(col.title))
		if col.left {
			rule.WriteString("|---")
		} else {
			rule.WriteString("|--:")
		}
	}
	fmt.Fprintf(b, "%s|\n%s|\n", head.String(), rule.String())
	for _, v := range c.Variants {
		for _, col := range cols {
			fmt.Fprintf(b, "| %s ", cell(col.cell(v)))
		}
		b.WriteString("|\n")
	}
}

// targetsCell lists a variant's targets with what became of each.
func targetsCell(v *VariantResult) string {
	var parts []string
	for _, t := range v.Targets {
		parts = append(parts, t.Text+": "+verdict(t))
	}
	return strings.Join(parts, "; ")
}

func verdict(t TargetResult) string {
	switch {
	case !t.Known:
		return "not measured"
	case t.ByInterval:
		return "met by the interval"
	case t.Met:
		return "met"
	}
	return "**missed**"
}

func hasTargets(r *Report) bool {
	for _, c := range r.Cases {
		for _, v := range c.Variants {
			if len(v.Targets) > 0 {
				return true
			}
		}
	}
	return false
}

// commandLine is the command that makes such a report again.
func commandLine(r *Report) string {
	s := "haven bench"
	if r.Config.Quick {
		s += " -quick"
	}
	if r.Config.Depth != 0 {
		s += fmt.Sprintf(" -depth %d", r.Config.Depth)
	}
	switch {
	case r.Config.InName == "standard input":
		s += " -in -"
	case r.Config.InName != "":
		s += " -in " + r.Config.InName
	}
	return s
}

// cell makes s fit for a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(s)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
