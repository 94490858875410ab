package workload

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func noCases(Config) []Case { return nil }

// withRegistry runs f with an empty registry and puts the old one back.
func withRegistry(f func()) {
	old := registry
	registry = nil
	defer func() { registry = old }()
	f()
}

func TestAllKeepsTheOrderOfSizes(t *testing.T) {
	withRegistry(func() {
		for _, name := range []string{"zebra", "jsontree", "tree", "apple", "sizes"} {
			Register(Workload{Name: name, Cases: noCases})
		}
		var names []string
		for _, w := range All() {
			names = append(names, w.Name)
		}
		if want := []string{"sizes", "tree", "jsontree", "apple", "zebra"}; !slices.Equal(names, want) {
			t.Errorf("%v, want %v", names, want)
		}
	})
}

func TestRegisterPanics(t *testing.T) {
	withRegistry(func() {
		Register(Workload{Name: "tree", Cases: noCases})
		for want, w := range map[string]Workload{
			`"tree" twice`:         {Name: "tree", Cases: noCases},
			`"chain" without`:      {Name: "chain"},
			`"" without a name or`: {Cases: noCases},
		} {
			func() {
				defer func() {
					if msg, _ := recover().(string); !strings.Contains(msg, want) {
						t.Errorf("panic %q, want one with %q", msg, want)
					}
				}()
				Register(w)
			}()
		}
	})
}

// Registered workloads must be what the harness takes for granted.
func TestRegisteredWorkloadsAreSound(t *testing.T) {
	for _, w := range All() {
		cases := map[string]bool{}
		for _, c := range w.Cases(Config{}) {
			name := w.Name + "/" + c.Name
			if cases[c.Name] {
				t.Errorf("%s: two cases of this name", name)
			}
			cases[c.Name] = true
			if c.Sequential && c.Concurrent {
				t.Errorf("%s: both Sequential and Concurrent", name)
			}
			variants := map[string]bool{}
			for _, v := range c.Variants {
				if variants[v.Name] || v.Name == "" || strings.ContainsAny(v.Name, "/ ") || v.Setup == nil {
					t.Errorf("%s: variant %q is a duplicate, has a bad name or no Setup", name, v.Name)
				}
				variants[v.Name] = true
			}
			if len(variants) == 0 || c.Baseline != "" && !variants[c.Baseline] {
				t.Errorf("%s: baseline %q is not among the variants", name, c.Baseline)
			}
			for _, v := range c.Variants {
				for _, target := range v.Targets {
					if target.Against != "" && !variants[target.Against] {
						t.Errorf("%s/%s: target against %q, which there is not", name, v.Name, target.Against)
					}
				}
			}
		}
		if w.Unit == "" || w.Doc == "" || strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%s: unit %q, doc %q", w.Name, w.Unit, w.Doc)
		}
	}
}

func TestRoundClear(t *testing.T) {
	h := &Histogram{}
	r := Round{Ops: 5, Elapsed: 3, Latencies: h}
	r.SetExtra("a-ns", 1)
	r.SetExtra("b-ns", 2)
	r.SetExtra("a-ns", 3)
	if got, want := r.Extras(), []Extra{{"a-ns", 3}, {"b-ns", 2}}; !slices.Equal(got, want) {
		t.Errorf("extras %v, want %v", got, want)
	}
	h.Add(1)
	r.Clear()
	if r.Ops != 0 || r.Elapsed != 0 || len(r.Extras()) != 0 || r.Latencies != h || h.Count() != 1 {
		t.Errorf("after Clear: %+v", r)
	}
}

func TestHistogramBuckets(t *testing.T) {
	last := -1
	for v := uint64(0); v < 1<<62; v += v/300 + 1 {
		i := bucket(v)
		if i < last || i > last+1 {
			t.Fatalf("value %d: bucket %d after %d", v, i, last)
		}
		last = i
		if f := floor(i); f > v || float64(v-f) > float64(v)/128 {
			t.Fatalf("value %d: bucket begins at %d", v, f)
		}
		if f := floor(i); bucket(f) != i || f > 0 && bucket(f-1) != i-1 {
			t.Fatalf("bucket %d does not begin at %d", i, f)
		}
	}
	if i := bucket(1<<63 - 1); i != len(Histogram{}.counts)-1 {
		t.Errorf("the greatest value has bucket %d of %d", i, len(Histogram{}.counts))
	}
}

func TestHistogramQuantile(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Errorf("of none: %v", h.Quantile(0.5))
	}
	for i := 1000; i >= 1; i-- {
		h.Add(time.Duration(i))
	}
	for q, want := range map[float64]float64{-1: 1, 0: 1, 0.05: 50, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000, 2: 1000} {
		if got := float64(h.Quantile(q)); got > want || got < want*(1-1.0/128) {
			t.Errorf("quantile %v: %v, want %v or a little less", q, got, want)
		}
	}
	h.Add(-5)
	h.Add(1<<63 - 1)
	if h.Count() != 1002 || h.Quantile(0) != 0 || h.Quantile(1) < 1<<62 {
		t.Errorf("count %d, from %v to %v", h.Count(), h.Quantile(0), h.Quantile(1))
	}
	if n := testing.AllocsPerRun(10, func() { h.Add(77) }); n != 0 {
		t.Errorf("Add allocates %v times", n)
	}
}
