package debugpage

import (
	"net/http"
	"strings"
	"time"

	"github.com/haven-mem/haven/memctx"
)

// What tests of this package see of its insides.

var (
	Policy         = policy
	Static         = static
	Pace           = pace
	Fraction       = fraction
	ListAtMost     = listAtMost
	FormatBytes    = formatBytes
	FormatCount    = formatCount
	FormatShare    = formatShare
	FormatDuration = formatDuration
)

const (
	MaxRows      = maxRows
	TreeRows     = treeRows
	LimitRows    = limitRows
	HistoryLen   = historyLen
	HistoryNames = historyNames
)

// HandlerOf returns a handler that shows what take returns, without a history.
func HandlerOf(take func() *memctx.Snapshot) http.Handler {
	return &handler{take: take, history: newHistory(), start: func() {}}
}

// Collect returns the figures of a snapshot.
func Collect(s *memctx.Snapshot) *Stats {
	return collect(func() *memctx.Snapshot { return s }, newHistory())
}

// AddLimits adds to the figures what has a limit.
func AddLimits(s *Stats) { s.Limits, s.MoreLimits = limits(s) }

// PageOf returns the page that shows the figures.
func PageOf(s *Stats) string {
	var b strings.Builder
	if err := page.Execute(&b, newView(s)); err != nil {
		panic(err)
	}
	return b.String()
}

// A Recorder is a history that the test adds to.
type Recorder struct {
	h *history
	m *meter
}

func NewRecorder() *Recorder {
	m := newMeter()
	m.read()
	return &Recorder{newHistory(), m}
}

func (r *Recorder) Add(s *memctx.Snapshot)                            { r.h.add(s, r.m) }
func (r *Recorder) Sample(take func() *memctx.Snapshot) time.Duration { return r.h.sample(take, r.m) }
func (r *Recorder) History() History                                  { return r.h.copy() }

// RecentGC adds readings of the CPU time of the collector and of all, and returns
// the collector's share of what is between the last two.
func RecentGC(readings [][2]float64) (shares []float64) {
	h := newHistory()
	for _, r := range readings {
		v := h.recentGC(r[0], r[1])
		h.fixed[5].Values = append(h.fixed[5].Values, v)
		shares = append(shares, v)
	}
	return shares
}
