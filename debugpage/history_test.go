package debugpage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// names returns a snapshot at a time in which contexts of some names have so many
// bytes.
func names(second int, bytes map[string]int) *memctx.Snapshot {
	s := &memctx.Snapshot{Time: time.Unix(int64(second), 0)}
	for name, n := range bytes {
		s.Names = append(s.Names, memctx.NameStats{Name: name, Live: 2, Usage: memctx.Usage{Bytes: n}})
	}
	slices.SortFunc(s.Names, func(a, b memctx.NameStats) int { return len(a.Name) - len(b.Name) })
	return s
}

func series(t *testing.T, h debugpage.History, name string, ofName bool) *debugpage.Series {
	t.Helper()
	for i, s := range h.Series {
		if s.Name == name && s.OfName == ofName {
			return &h.Series[i]
		}
	}
	return nil
}

func TestHistory(t *testing.T) {
	r := debugpage.NewRecorder()
	s := names(1, map[string]int{"a": 100, "bb": 20})
	s.Caches = []slab.Stats{{Bytes: 7}, {Bytes: 8}}
	s.Pools = []pool.Stats{{Bytes: 30}, {Bytes: 1}}
	r.Add(s)
	r.Add(names(3, map[string]int{"a": 200, "contexts": 5}))
	h := r.History()
	if !slices.Equal(h.Times, []int64{1000, 3000}) {
		t.Errorf("times %v", h.Times)
	}
	for _, want := range []debugpage.Series{
		{Name: debugpage.SeriesContextBytes, Unit: "bytes", Values: []float64{120, 205}},
		{Name: debugpage.SeriesContexts, Unit: "count", Values: []float64{4, 4}},
		{Name: debugpage.SeriesCacheBytes, Unit: "bytes", Values: []float64{15, 0}},
		{Name: debugpage.SeriesIdleBytes, Unit: "bytes", Values: []float64{31, 0}},
		{Name: "a", OfName: true, Unit: "bytes", Values: []float64{100, 200}},
		{Name: "bb", OfName: true, Unit: "bytes", Values: []float64{20, 0}},
		{Name: "contexts", OfName: true, Unit: "bytes", Values: []float64{5}}, // began late
	} {
		got := series(t, h, want.Name, want.OfName)
		if got == nil || got.Unit != want.Unit || !slices.Equal(got.Values, want.Values) {
			t.Errorf("the series is %+v, want %+v", got, want)
		}
	}
	if heap := series(t, h, debugpage.SeriesHeap, false); heap.Values[1] < 10_000 {
		t.Errorf("the heap is %v", heap.Values)
	}
	h.Times[0], h.Series[0].Values[0] = 5, 5
	if h := r.History(); h.Times[0] != 1000 || h.Series[0].Values[0] != 120 {
		t.Error("who gets the history can change it")
	}
}

// TestHistoryBounded samples for longer than the history reaches, with names that
// come and go.
func TestHistoryBounded(t *testing.T) {
	r := debugpage.NewRecorder()
	const n = 3*debugpage.HistoryLen + 7
	for i := range n {
		bytes := map[string]int{}
		for k := range 20 {
			bytes[fmt.Sprintf("%d of %d", k, i)] = i*100 + k
		}
		r.Add(names(i, bytes))
	}
	h := r.History()
	if len(h.Times) != debugpage.HistoryLen || h.Times[0] != 1000*(n-debugpage.HistoryLen) || h.Times[len(h.Times)-1] != 1000*(n-1) {
		t.Errorf("%d times from %d to %d", len(h.Times), h.Times[0], h.Times[len(h.Times)-1])
	}
	if len(h.Series) != 6+debugpage.HistoryNames {
		t.Errorf("%d series", len(h.Series))
	}
	for i, s := range h.Series {
		if len(s.Values) > len(h.Times) || i < 6 && len(s.Values) != len(h.Times) {
			t.Errorf("%s has %d values", s.Name, len(s.Values))
		}
	}
}

// TestHistoryNames is which names have a series: who is among the largest keeps it
// until somebody is larger than it was in the last minutes.
func TestHistoryNames(t *testing.T) {
	r := debugpage.NewRecorder()
	first := map[string]int{}
	for k := range debugpage.HistoryNames {
		first[fmt.Sprintf("first %d", k)] = 100 + k
	}
	r.Add(names(0, first))
	second := map[string]int{"small": 100, "large": 101}
	r.Add(names(1, second)) // first ones are gone by now, but were larger or as large
	h := r.History()
	if series(t, h, "small", true) != nil {
		t.Error("a name has a series that was never larger than another")
	}
	if series(t, h, "large", true) == nil || series(t, h, "first 0", true) != nil || series(t, h, "first 1", true) == nil {
		t.Errorf("the largest did not take the place of the smallest: %v", h.Series)
	}
	for i := range debugpage.HistoryLen {
		r.Add(names(2+i, nil))
	}
	r.Add(names(1000, map[string]int{"small": 1}))
	if series(t, r.History(), "small", true) == nil {
		t.Error("a name that is long gone keeps its series")
	}
}

func TestRecentGC(t *testing.T) {
	got := debugpage.RecentGC([][2]float64{
		{1, 10}, // of all the time before
		{2, 14}, // a quarter of the last four seconds
		{2, 14}, // no collection since
		{2, 20}, // no time in it
		{9, 22}, // estimates may go wrong
	})
	if want := []float64{0.1, 0.25, 0.25, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPace is the bound on what sampling costs: the time that a sample takes is
// under a hundredth of that until the next is over.
func TestPace(t *testing.T) {
	for _, took := range []time.Duration{0, time.Microsecond, time.Millisecond, 19 * time.Millisecond, 20 * time.Millisecond, time.Second, time.Minute} {
		wait := debugpage.Pace(took)
		if wait < 2*time.Second || took*100 > took+wait {
			t.Errorf("%v after %v", wait, took)
		}
	}
	if got := debugpage.Pace(time.Millisecond); got != 2*time.Second {
		t.Errorf("%v where samples are cheap", got)
	}
}

// TestSample takes a sample that is slow.
func TestSample(t *testing.T) {
	r := debugpage.NewRecorder()
	const slow = 30 * time.Millisecond
	wait := r.Sample(func() *memctx.Snapshot {
		for began := time.Now(); time.Since(began) < slow; {
		}
		return names(1, map[string]int{"a": 1})
	})
	h := r.History()
	if wait < 100*slow || h.Interval != wait || len(h.Times) != 1 {
		t.Errorf("%v until the next sample, history %+v", wait, h)
	}
}

// TestSampling sees the goroutine that samples at work.
func TestSampling(t *testing.T) {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	mc := memctx.New("sampled")
	defer mc.Delete()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var s debugpage.Stats
		if err := json.Unmarshal(get(t, mux, "GET", debugpage.Path+"stats.json").Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if c := series(t, s.History, debugpage.SeriesContexts, false); s.History.Interval >= 2*time.Second && c.Values[len(c.Values)-1] >= 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no sample has the context: %+v", s.History)
		}
	}
}
