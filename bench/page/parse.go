package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A run is what haven bench -markdown wrote of one Go version.
type run struct {
	version string
	facts   map[string]string // Machine, Haven, …
	targets []target
	cases   map[string]*result
}

type target struct{ work, variant, text, measured, verdict string }

// A result is the table of one case.
type result struct {
	baseline string
	variants []string
	cells    map[string]map[string]string // by variant and title of the column
}

// A ratio says how many times as fast, or as little, something is; its interval if it
// has one.
type ratio struct {
	mid, lo, hi float64
}

func parseRun(version, text string) (*run, error) {
	r := &run{version: version, facts: map[string]string{}, cases: map[string]*result{}}
	head, body, _ := strings.Cut(text, "\n## ")
	for _, row := range rows(head) {
		r.facts[row[0]] = row[1]
	}
	for _, section := range strings.Split(body, "\n## ") {
		name, table, _ := strings.Cut(section, "\n")
		list := rows(table)
		if len(list) == 0 {
			return nil, fmt.Errorf("section %q has no table", name)
		}
		if name == "Targets" {
			for _, row := range list[1:] {
				r.targets = append(r.targets, target{row[0], row[1], row[2], row[3], row[4]})
			}
			continue
		}
		c := &result{cells: map[string]map[string]string{}}
		for _, title := range list[0] {
			if against, ok := strings.CutPrefix(title, "against "); ok {
				c.baseline = against
			}
		}
		for _, row := range list[1:] {
			c.variants = append(c.variants, row[0])
			cells := map[string]string{}
			for i, title := range list[0] {
				cells[title] = row[i]
			}
			cells["time"] = row[1] + " " + list[0][1]
			c.cells[row[0]] = cells
		}
		r.cases[name] = c
	}
	if r.facts["Haven"] == "" || len(r.cases) == 0 {
		return nil, fmt.Errorf("it does not look like the output of haven bench -markdown")
	}
	return r, nil
}

// rows returns the cells of a Markdown table, without the rule below its head.
func rows(text string) [][]string {
	var list [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| | |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		list = append(list, cells)
	}
	return list
}

// cell returns what the table of a case has for a variant; "" if nothing.
func (r *run) cell(work, variant, title string) string {
	if c := r.cases[work]; c != nil {
		return c.cells[variant][title]
	}
	return ""
}

var speedupCell = regexp.MustCompile(`^([\d.]+)× (faster|slower) \[(?:\?|([\d.]+)–([\d.]+))\]$`)
var equalCell = regexp.MustCompile(`^no clear difference \[([\d.]+)–([\d.]+)\]$`)

// speedup returns the ratio of a variant's time to that of the case's baseline. Where
// the table does not give the median it is that of the two times.
func (r *run) speedup(work, variant string) (ratio, bool) {
	c := r.cases[work]
	if c == nil {
		return ratio{}, false
	}
	text := r.cell(work, variant, "against "+c.baseline)
	if m := equalCell.FindStringSubmatch(text); m != nil {
		q, ok := r.quotient(work, variant, c.baseline, "time")
		return ratio{q, number(m[1]), number(m[2])}, ok
	}
	m := speedupCell.FindStringSubmatch(text)
	if m == nil {
		return ratio{}, false
	}
	x := ratio{number(m[1]), number(m[3]), number(m[4])}
	if m[2] == "slower" {
		x.mid = 1 / x.mid
		if x.lo > 0 {
			x.lo, x.hi = 1/x.hi, 1/x.lo
		}
	}
	return x, true
}

// quotient divides what two variants have in a column; of a rate, such as MB/s, the other
// way round.
func (r *run) quotient(work, variant, against, title string) (float64, bool) {
	mine, theirs := r.cell(work, variant, title), r.cell(work, against, title)
	x, y := quantity(mine), quantity(theirs)
	if x == 0 || y == 0 {
		return 0, false
	}
	if strings.HasSuffix(mine, "/s") {
		return x / y, true
	}
	return y / x, true
}

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64)
	return x
}

// quantity reads a number with a unit; times are in nanoseconds.
func quantity(s string) float64 {
	value, unit, _ := strings.Cut(s, " ")
	unit, _, _ = strings.Cut(unit, "/")
	scale := map[string]float64{"µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
	if scale == 0 {
		scale = 1
	}
	return number(value) * scale
}
