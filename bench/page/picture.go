package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The picture: a group of bars for each case, a bar for each variant, from 1× to the
// ratio, on a logarithmic axis.
const (
	width    = 960
	barStep  = 13
	groupGap = 9
	top      = 58
	axisFrom = 330.0
	axisTo   = 890.0
	least    = 0.5
	most     = 300.0
)

// bars are the variants of a case that are drawn, in this order.
var bars = []string{"arena+fresh", "arena+reset", "bump+reset", "arena", "bump",
	"sync.Pool", "cache", "local", "table", "pool.Pool", "pool.Bytes"}

var drawn = slices.Concat(together, []string{"resident/nodes=8388607", "handles/nodes=8388607", "slabpair/goroutines=1",
	"slabpair/goroutines=all", "transfer", "churn", "payment", "slabpair/buffer=1KiB", "slabpair/buffer=4KiB"})

const style = `
svg{--bg:#fff;--ink:#1f2328;--dim:#59636e;--line:#d1d9e0;--one:#59636e;--arena:#0969da;--fresh:#54aeff;--bump:#1a7f37;--slab:#8250df;--pools:#bc4c00;--other:#8c959f}
@media(prefers-color-scheme:dark){svg{--bg:#0d1117;--ink:#e6edf3;--dim:#9198a1;--line:#2b323b;--one:#9198a1;--arena:#388bfd;--fresh:#a5d6ff;--bump:#3fb950;--slab:#bc8cff;--pools:#f0883e;--other:#768390}}
text{font:11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink)}
.bg{fill:var(--bg);stroke:var(--line)}.dim{fill:var(--dim)}.end{text-anchor:end}.mid{text-anchor:middle}.work{font-weight:600;font-size:12px}
.grid{stroke:var(--line)}.one{stroke:var(--one)}.err,.halo{fill:none;stroke:var(--ink)}.halo{stroke:var(--bg);stroke-width:3;opacity:.6}
.arena{fill:var(--arena)}.fresh{fill:var(--fresh)}.bump{fill:var(--bump)}.slab{fill:var(--slab)}.pools{fill:var(--pools)}.other{fill:var(--other)}
`

// at returns the place of a ratio on the axis.
func at(x float64) float64 {
	t := math.Log(x/least) / math.Log(most/least)
	return axisFrom + min(max(t, 0), 1)*(axisTo-axisFrom)
}

func draw(r *run) []byte {
	var b bytes.Buffer
	y := top
	for _, work := range drawn {
		list := present(r, work)
		if len(list) == 0 {
			continue
		}
		mid := float64(y) + float64(len(list)*barStep)/2
		fmt.Fprintf(&b, "<text class=\"work\" x=\"16\" y=\"%.1f\">%s</text>\n", mid+4, html.EscapeString(label(work)))
		for _, v := range list {
			x, _ := r.speedup(work, v)
			from, to := min(at(1), at(x.mid)), max(at(1), at(x.mid))
			fmt.Fprintf(&b, "<text class=\"dim end\" x=\"%.0f\" y=\"%d\">%s</text>", axisFrom-14, y+9, html.EscapeString(v))
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"9\"/>", class(v), from, y+1, max(to-from, 1))
			end := to
			if x.lo > 0 {
				line := fmt.Sprintf("M%.1f %d.5v6m0 -3H%.1fm0 -3v6", at(x.lo), y+2, at(x.hi))
				fmt.Fprintf(&b, "<path class=\"halo\" d=\"%s\"/><path class=\"err\" d=\"%[1]s\"/>", line)
				end = max(end, at(x.hi))
			}
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", end+5, y+9, times(x.mid))
			y += barStep
		}
		y += groupGap
	}
	height := y + 6
	var s bytes.Buffer
	fmt.Fprintf(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "+
		"aria-label=\"Speed relative to Go's heap\">\n<style>%s</style>\n", width, height, width, height, style)
	fmt.Fprintf(&s, "<rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width-1, height-1)
	fmt.Fprintf(&s, "<text class=\"work\" x=\"16\" y=\"24\">Times as fast as Go's heap</text>"+
		"<text class=\"dim\" x=\"16\" y=\"42\">%s, thin lines: 95 %% intervals</text>\n", html.EscapeString(r.version))
	for _, x := range []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200} {
		kind := "grid"
		if x == 1 {
			kind = "one"
		}
		fmt.Fprintf(&s, "<path class=\"%s\" d=\"M%.1f %dV%d\"/><text class=\"dim mid\" x=\"%.1f\" y=\"%d\">%g×</text>\n", kind, at(x), top-8, height-8, at(x), top-14, x)
	}
	fmt.Fprintf(&s, "<text class=\"dim end\" x=\"%.1f\" y=\"22\">◂ slower</text><text class=\"dim\" x=\"%.1f\" y=\"22\">faster ▸</text>\n", at(1)-6, at(1)+6)
	b.WriteString("</svg>\n")
	return append(s.Bytes(), b.Bytes()...)
}

// present returns the variants of a case that have a ratio.
func present(r *run, work string) []string {
	var list []string
	for _, v := range bars {
		if _, ok := r.speedup(work, v); ok {
			list = append(list, v)
		}
	}
	return list
}

func class(variant string) string {
	switch {
	case variant == "arena+fresh":
		return "fresh"
	case strings.HasPrefix(variant, "arena"):
		return "arena"
	case strings.HasPrefix(variant, "bump"):
		return "bump"
	case strings.HasPrefix(variant, "pool."):
		return "pools"
	case variant == "sync.Pool":
		return "other"
	}
	return "slab"
}

// label shortens the name of a case.
func label(work string) string {
	return strings.NewReplacer("/gc=quiet", "", "/nodes=131071", "", "/nodes=8388607", ", collection", "/program=binary-trees/depth=15", ", binary-trees").Replace(work)
}

func times(x float64) string {
	if x >= 9.95 {
		return fmt.Sprintf("%.0f×", x)
	}
	return fmt.Sprintf("%.2g×", x)
}
