package debugpage

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/haven-mem/haven/memctx"
)

//go:embed templates
var templates embed.FS

// page is the page as the server makes it. The scripts keep its tables up to date
// and add the icicle and the curves; without them it is complete as it is.
var page = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"bytes":    func(n any) string { return formatBytes(uint64(max(whole(n), 0))) },
	"count":    func(n any) string { return formatCount(whole(n)) },
	"share":    func(part, all any) string { return newGauge(part, all).Share },
	"gauge":    newGauge,
	"rank":     newRank,
	"split":    func(path string) []string { return strings.Split(path, "/") },
	"percent":  func(f float64) string { return formatShare(f, 1) },
	"duration": formatDuration,
	"label":    label,
	"iso":      func(t time.Time) string { return t.Format(time.RFC3339) },
	"clock":    func(t time.Time) string { return t.Format(time.TimeOnly) },
	"sum":      func(a, b any) int64 { return whole(a) + whole(b) },
}).ParseFS(templates, "templates/*.tmpl"))

// A view is what the templates see: the figures, and what each panel makes of
// them.
type view struct {
	*Stats
	Tree    treeView
	ByName  []memctx.NameStats
	Largest []memctx.Row

	LimitsShown limitsView
}

func newView(s *Stats) *view {
	return &view{Stats: s, Tree: newTreeView(s), ByName: rankNames(s), Largest: rankContexts(s), LimitsShown: newLimitsView(s)}
}

// whole returns the integer that a template has in hand.
func whole(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	}
	panic(fmt.Sprintf("debugpage: a template has a %T where it needs an integer", n))
}

// A gauge is a bar and a share in percent.
type gauge struct {
	Class string
	Width string // of 100
	Share string
}

// newGauge returns a bar that shows the share.
func newGauge(part, all any) gauge {
	p, a := float64(whole(part)), float64(whole(all))
	return gauge{"bar", barWidth(p, a), formatShare(p, a)}
}

// newRank returns a bar that shows n beside the largest one, with its share of
// all.
func newRank(n, largest, all any) gauge {
	p := float64(whole(n))
	return gauge{"bar rank", barWidth(p, float64(whole(largest))), formatShare(p, float64(whole(all)))}
}

func barWidth(part, all float64) string {
	return fmt.Sprintf("%.1f", 100*fraction(part, all))
}

// label returns a context's part of its path, or what a group is.
func label(r memctx.Row) string {
	switch {
	case r.Siblings > 0:
		return r.Name + " ×" + formatCount(int64(r.Siblings))
	case r.Ident == "":
		return r.Name
	}
	return r.Name + "[" + r.Ident + "]"
}
