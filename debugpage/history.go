package debugpage

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/haven-mem/haven/memctx"
)

const (
	historyLen   = 150 // samples: five minutes, two seconds apart
	historyNames = 8   // names of contexts that have a series
)

// A history keeps the latest samples of a fixed number of series, whatever lives
// in the process: some 20 KiB.
//
// A series has no more values than there are times, and its last value belongs
// to the last time.
type history struct {
	mu       sync.Mutex
	interval time.Duration
	times    []int64
	fixed    [6]Series // in the order of the constants Series…
	names    []Series  // at most historyNames
	gcCPU    float64   // seconds, at the latest sample
	totalCPU float64
}

func newHistory() *history {
	return &history{fixed: [...]Series{
		{Name: SeriesContextBytes, Unit: "bytes"},
		{Name: SeriesContexts, Unit: "count"},
		{Name: SeriesCacheBytes, Unit: "bytes"},
		{Name: SeriesIdleBytes, Unit: "bytes"},
		{Name: SeriesHeap, Unit: "bytes"},
		{Name: SeriesGCCPU, Unit: "fraction"},
	}}
}

// add adds one sample, taken at s.Time, and drops the oldest if there are too
// many.
func (h *history) add(s *memctx.Snapshot, m *meter) {
	t := totals(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times = latest(append(h.times, s.Time.UnixMilli()))
	for i, v := range [...]float64{
		float64(t.ContextBytes), float64(t.Contexts), float64(t.CacheBytes), float64(t.IdleBytes),
		float64(m.count(heapObjects)), h.recentGC(m.seconds(gcCPU), m.seconds(totalCPU)),
	} {
		h.fixed[i].Values = latest(append(h.fixed[i].Values, v))
	}
	h.addNames(s.Names)
}

// recentGC returns the collector's share of the CPU time since the sample before,
// from the seconds since the program's start. The runtime counts at the end of a
// collection; while none ended, the share is still that of the last one.
func (h *history) recentGC(gc, total float64) float64 {
	v := fraction(gc-h.gcCPU, total-h.totalCPU)
	if before := h.fixed[5].Values; total <= h.totalCPU && len(before) > 0 {
		v = before[len(before)-1]
	}
	h.gcCPU, h.totalCPU = gc, total
	return v
}

// addNames adds to the series of names. A name that has one keeps it until
// another is larger than it was at any time that is still shown.
func (h *history) addNames(names []memctx.NameStats) {
	largest := slices.Clone(names)
	slices.SortStableFunc(largest, func(a, b memctx.NameStats) int {
		return cmp.Compare(b.Usage.Bytes, a.Usage.Bytes)
	})
	value := make(map[string]float64, len(names))
	for _, n := range names {
		value[n.Name] = float64(n.Usage.Bytes)
	}
	for i := range h.names {
		s := &h.names[i]
		s.Values = latest(append(s.Values, value[s.Name]))
	}
	for _, n := range largest[:min(historyNames, len(largest))] {
		if slices.ContainsFunc(h.names, func(s Series) bool { return s.Name == n.Name }) {
			continue
		}
		s := Series{Name: n.Name, OfName: true, Unit: "bytes", Values: []float64{value[n.Name]}}
		if len(h.names) < historyNames {
			h.names = append(h.names, s)
			continue
		}
		least := slices.MinFunc(h.names, func(a, b Series) int {
			return cmp.Compare(slices.Max(a.Values), slices.Max(b.Values))
		})
		if slices.Max(least.Values) < value[n.Name] {
			h.names = slices.DeleteFunc(h.names, func(s Series) bool { return s.Name == least.Name })
			h.names = append(h.names, s)
		}
	}
}

// latest returns the last values of a series in memory that does not grow.
func latest[T any](values []T) []T {
	if n := len(values) - historyLen; n > 0 {
		copy(values, values[n:])
		values = values[:historyLen]
	}
	return values
}

// copy returns what there is, in memory of its own.
func (h *history) copy() History {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := History{Interval: h.interval, Times: append([]int64{}, h.times...)}
	for _, list := range [...][]Series{h.fixed[:], h.names} {
		for _, s := range list {
			s.Values = append([]float64{}, s.Values...)
			c.Series = append(c.Series, s)
		}
	}
	return c
}
