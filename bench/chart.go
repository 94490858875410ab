package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The charts are laid out here and drawn by the SVG in page.html.tmpl. All
// lengths are in the units of the SVG's view box, which is chartWidth wide.
const (
	chartWidth  = 960
	rowHeight   = 22
	labelWidth  = 150 // names of variants
	nameWidth   = 250 // names of cases
	chartTop    = 24  // headings and axis labels
	chartBottom = 6
)

// A mark is one measured value with its error bar, as a bar that begins at X
// or as a dot at End.
type mark struct {
	X, End, Lo, Hi, Y float64
	Whisker           bool
	Family            string // CSS class that gives the colour
	Shape             string // "fresh", "reset" or "pool", for dots
	Value             string // text beside a bar
	Tip               string // shown when pointed at
}

// A label is a text in a chart, linked to a section if it has an anchor.
type label struct {
	X, Y   float64
	Text   string
	Anchor string
}

// A tick is a labelled line of an axis.
type tick struct {
	X      float64
	Text   string
	Strong bool
}

// A chart is what the template draws.
type chart struct {
	Width, Height, Bottom float64
	Title                 string // for those who cannot see it
	Labels                []label
	Heads                 []label
	Ticks                 []tick
	Stripes               []float64 // tops of shaded rows
	Bars, Dots            []mark
	Lines                 []mark // connect dots: X to End
}

// family maps a variant's name to its colour class: the allocator is what
// stands before the first plus sign.
func family(name string) string {
	allocator, _, _ := strings.Cut(name, "+")
	switch {
	case allocator == "new" || allocator == "heap" || allocator == "fresh":
		return "base"
	case strings.HasPrefix(allocator, "arena"):
		return "arena"
	case strings.HasPrefix(allocator, "lane"):
		return "lane"
	case strings.HasPrefix(allocator, "bump"):
		return "bump"
	case allocator == "cache" || allocator == "local" || allocator == "table":
		return "slab"
	case strings.HasPrefix(allocator, "pool."):
		return "pools"
	}
	return "other"
}

// Families returns the colour classes that the dots of the chart have, in a
// fixed order.
func (ch *chart) Families() []string {
	var present []string
	for _, f := range []string{"arena", "lane", "bump", "slab", "pools", "base", "other"} {
		if slices.ContainsFunc(ch.Dots, func(m mark) bool { return m.Family == f }) {
			present = append(present, f)
		}
	}
	return present
}

// freeLists are the variants, beside pools, that use single objects again.
var freeLists = []string{"cache", "local", "mutex", "channel", "deque"}

// shape maps a variant's name to the form of its dot: what happens to memory
// between rounds.
func shape(name string) string {
	switch {
	case strings.Contains(name, "reset"):
		return "reset"
	case strings.Contains(strings.ToLower(name), "pool"), slices.Contains(freeLists, name):
		return "pool"
	}
	return "fresh"
}

// A logScale maps ratios or times to places on a logarithmic axis.
type logScale struct{ lo, hi, x0, x1 float64 }

// newLogScale covers the values from lo to hi, with a little air.
func newLogScale(lo, hi, x0, x1 float64) logScale {
	return logScale{lo / 1.12, hi * 1.12, x0, x1}
}

func (s logScale) at(v float64) float64 {
	t := math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	return s.x0 + min(max(t, 0), 1)*(s.x1-s.x0)
}

// ticks returns the numbers 1, 2 and 5 times a power of ten within the scale,
// or the powers alone when those would be too many.
func (s logScale) ticks(text func(float64) string) []tick {
	steps := []float64{1, 2, 5}
	if math.Log10(s.hi/s.lo) > 3 {
		steps = steps[:1]
	}
	var ticks []tick
	for e := math.Floor(math.Log10(s.lo)); e <= math.Log10(s.hi); e++ {
		for _, step := range steps {
			if v := step * math.Pow(10, e); v >= s.lo && v <= s.hi {
				ticks = append(ticks, tick{X: s.at(v), Text: text(v), Strong: v == 1})
			}
		}
	}
	return ticks
}

// overviewChart shows the speedups of all variants of all cases on one
// logarithmic axis; nil when there are none. The names lead to the anchors.
func overviewChart(r *Report, anchors map[*CaseResult]string) *chart {
	lo, hi := 1.0, 1.0
	var cases []*CaseResult
	for _, c := range r.Cases {
		n := len(cases)
		for _, v := range c.Variants {
			if s := v.Summary.Speedup; s != nil {
				lo, hi = min(lo, s.Lo), max(hi, s.Hi)
				if n == len(cases) {
					cases = append(cases, c)
				}
			}
		}
	}
	if len(cases) == 0 {
		return nil
	}
	scale := newLogScale(min(lo, 0.8), max(hi, 2), nameWidth+10, chartWidth-24)
	ch := newChart("Speed relative to the baseline, all cases", len(cases))
	ch.Ticks = scale.ticks(func(v float64) string { return fmt.Sprintf("%g×", v) })
	for i, c := range cases {
		y := ch.row(i)
		ch.Labels = append(ch.Labels, label{X: nameWidth, Y: y, Text: c.Name(), Anchor: anchors[c]})
		for _, v := range c.Variants {
			s := v.Summary.Speedup
			if s == nil {
				continue
			}
			ch.Dots = append(ch.Dots, mark{
				End: scale.at(s.Median), Lo: scale.at(s.Lo), Hi: scale.at(s.Hi), Y: y, Whisker: true,
				Family: family(v.Name), Shape: shape(v.Name),
				Tip: fmt.Sprintf("%s, %s: %s", c.Name(), v.Name, formatSpeedup(s)),
			})
		}
	}
	return ch
}

// newChart returns an empty chart with the given number of rows.
func newChart(title string, rows int) *chart {
	ch := &chart{Width: chartWidth, Title: title, Bottom: chartTop + float64(rows)*rowHeight}
	ch.Height = ch.Bottom + chartBottom
	for i := 0; i < rows; i += 2 {
		ch.Stripes = append(ch.Stripes, chartTop+float64(i)*rowHeight)
	}
	return ch
}

// row returns the middle of row i.
func (ch *chart) row(i int) float64 { return chartTop + (float64(i)+0.5)*rowHeight }

// A panel is one metric of a case chart: its place, and how to read it from a
// variant. The interval is nil for metrics without one.
type panel struct {
	title       string
	x, bars     float64 // left edge and greatest length of a bar
	value       func(v *VariantResult) float64
	interval    func(v *VariantResult) (lo, hi float64)
	text        func(v *VariantResult) string
	onlyIfKnown bool // leave the panel out when all values are 0
}

// caseChart shows time, collector work and memory of the variants of c.
func caseChart(c *CaseResult) *chart {
	ch := newChart("Time, GC CPU and peak memory of "+c.Name(), len(c.Variants))
	for i, v := range c.Variants {
		ch.Labels = append(ch.Labels, label{X: labelWidth, Y: ch.row(i), Text: v.Name})
	}
	for _, p := range panels(c) {
		ch.addPanel(c, p)
	}
	return ch
}

func panels(c *CaseResult) []panel {
	better := "shorter is better"
	scale := func(ns float64) float64 { return ns }
	if c.Unit == "byte" {
		better = "longer is better"
		scale = megabytesPerSecond
	}
	return []panel{
		{
			title: timeUnit(c) + ", " + better, x: labelWidth + 10, bars: 230,
			value: func(v *VariantResult) float64 { return scale(v.Summary.Time.Median) },
			interval: func(v *VariantResult) (float64, float64) {
				a, b := scale(v.Summary.Time.Lo), scale(v.Summary.Time.Hi)
				return min(a, b), max(a, b)
			},
			text: func(v *VariantResult) string {
				s := formatTime(c, v.Summary.Time.Median)
				if r := v.Summary.Speedup; r != nil {
					word, _, _ := strings.Cut(formatSpeedup(r), " [")
					s += " · " + word
				}
				return s
			},
		},
		{
			title: "GC CPU, ms per round", x: 590, bars: 120,
			value: func(v *VariantResult) float64 { return v.Summary.GCCPUNS },
			text:  func(v *VariantResult) string { return formatMS(v.Summary.GCCPUNS) },
		},
		{
			title: "peak memory, MB", x: 790, bars: 110, onlyIfKnown: true,
			value: func(v *VariantResult) float64 { return float64(v.PeakRSSBytes) },
			text: func(v *VariantResult) string {
				if v.PeakRSSBytes == 0 {
					return unknown
				}
				return formatMB(float64(v.PeakRSSBytes))
			},
		},
	}
}

func (ch *chart) addPanel(c *CaseResult, p panel) {
	most, reach := 0.0, 0.0
	for _, v := range c.Variants {
		most = max(most, p.value(v))
		if p.interval != nil {
			_, hi := p.interval(v)
			reach = max(reach, hi)
		}
	}
	// The error bars fit in, too, but one wild interval must not squeeze all
	// the bars.
	most = max(most, min(reach, 2*most))
	if most == 0 && p.onlyIfKnown {
		return
	}
	ch.Heads = append(ch.Heads, label{X: p.x, Y: chartTop - 9, Text: p.title})
	length := func(x float64) float64 {
		if most == 0 {
			return 0
		}
		return p.bars * min(max(x/most, 0), 1)
	}
	for i, v := range c.Variants {
		m := mark{
			X: p.x, End: p.x + length(p.value(v)), Y: ch.row(i),
			Family: family(v.Name), Value: p.text(v),
			Tip: fmt.Sprintf("%s: %s", v.Name, p.text(v)),
		}
		m.Hi = m.End
		if p.interval != nil {
			lo, hi := p.interval(v)
			m.Lo, m.Hi, m.Whisker = p.x+length(lo), p.x+length(hi), true
		}
		ch.Bars = append(ch.Bars, m)
	}
}

// latencyChart shows p50, p99 and p99.9 of each variant; nil without any.
func latencyChart(c *CaseResult) *chart {
	lo, hi := math.Inf(1), 0.0
	for _, v := range c.Variants {
		if v.Latency != nil {
			lo = min(lo, float64(v.Latency.P50NS))
			hi = max(hi, float64(v.Latency.P999NS))
		}
	}
	if hi <= 0 || lo <= 0 {
		return nil
	}
	ch := newChart("Latency percentiles of "+c.Name(), len(c.Variants))
	scale := newLogScale(lo, max(hi, 2*lo), labelWidth+10, chartWidth-24)
	ch.Ticks = scale.ticks(axisNS)
	for i := range ch.Ticks {
		ch.Ticks[i].Strong = false
	}
	for i, v := range c.Variants {
		y := ch.row(i)
		ch.Labels = append(ch.Labels, label{X: labelWidth, Y: y, Text: v.Name})
		if v.Latency == nil {
			continue
		}
		points := []struct {
			name  string
			ns    int64
			shape string
		}{{"p50", v.Latency.P50NS, "fresh"}, {"p99", v.Latency.P99NS, "reset"}, {"p99.9", v.Latency.P999NS, "pool"}}
		ch.Lines = append(ch.Lines, mark{
			X: scale.at(float64(points[0].ns)), End: scale.at(float64(points[2].ns)), Y: y, Family: family(v.Name),
		})
		for _, p := range points {
			x := scale.at(float64(p.ns))
			ch.Dots = append(ch.Dots, mark{
				End: x, Lo: x, Hi: x, Y: y, Family: family(v.Name), Shape: p.shape,
				Tip: fmt.Sprintf("%s, %s: %s", v.Name, p.name, formatNS(float64(p.ns))),
			})
		}
	}
	return ch
}

// axisNS is formatNS for the round numbers of an axis.
func axisNS(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size*0.999 {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
