package workload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/haven-mem/haven/bench/workload"
	"github.com/haven-mem/haven/internal/testkit"
)

// testInput is a stream of documents with everything that JSON has.
const testInput = `{"name":"a\u00e9\n","list":[1,-2.5e3,true,false,null,{}],"":{"k":[[],["x"]]}}
{"second":"document","with":"` + "\x7f\u00fc" + `"} 17 "text"`

// config returns a small configuration of w, prepared like the harness does.
func config(t testing.TB, w workload.Workload) workload.Config {
	t.Helper()
	cfg := workload.Config{Quick: true, Depth: 8}
	if w.Name == "jsontree" {
		cfg.In = filepath.Join(t.TempDir(), "in.json")
		cfg.InName = "test"
		if err := os.WriteFile(cfg.In, []byte(testInput), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if w.Prepare != nil {
		if err := w.Prepare(&cfg, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if w.Check != nil {
		if err := w.Check(cfg); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// find returns a registered workload.
func find(t testing.TB, name string) workload.Workload {
	t.Helper()
	for _, w := range workload.All() {
		if w.Name == name {
			return w
		}
	}
	t.Fatalf("no workload %s", name)
	return workload.Workload{}
}

// setup makes an instance of a variant of a case.
func setup(t testing.TB, c workload.Case, variant string) workload.Instance {
	t.Helper()
	for _, v := range c.Variants {
		if v.Name == variant {
			inst, err := v.Setup()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(inst.Close)
			return inst
		}
	}
	t.Fatalf("case %s has no variant %s", c.Name, variant)
	return nil
}

func round(inst workload.Instance) workload.Round {
	r := workload.Round{Latencies: &workload.Histogram{}}
	inst.Round(&r)
	return r
}

func TestAllWorkloadsAreThere(t *testing.T) {
	var names []string
	for _, w := range workload.All() {
		names = append(names, w.Name)
	}
	want := []string{"sizes", "tree", "chain", "fresh", "small", "request", "types", "uneven", "spike", "kept", "routes", "resident", "jsontree", "reset", "append", "shared", "contexts",
		"slabpair", "transfer", "churn", "payment", "burst", "handles"}
	if !slices.Equal(names, want) {
		t.Errorf("workloads %v, want %v", names, want)
	}
}

// All variants of a case make the same data in every round, whether their
// memory is new or used before. Rounds are enough for a ring of five to turn.
func TestVariantsMakeTheSame(t *testing.T) {
	for _, w := range workload.All() {
		t.Run(w.Name, func(t *testing.T) {
			if testing.Short() && (w.Name == "sizes" || w.Name == "types") {
				t.Skip("most of the time goes here, and there is one goroutine")
			}
			cfg := config(t, w)
			for _, c := range w.Cases(cfg) {
				rounds := 3
				if strings.HasPrefix(c.Name, "alive=") {
					rounds = 12
				}
				var want []uint64
				var wantOps int64
				for i, v := range c.Variants {
					inst, err := v.Setup()
					if err != nil {
						t.Fatalf("%s/%s: %v", c.Name, v.Name, err)
					}
					made := 0
					workload.Inspect(inst, func(sum uint64) {
						switch {
						case i == 0:
							want = append(want, sum)
						case made >= len(want):
							t.Fatalf("%s/%s: made more than %d things", c.Name, v.Name, len(want))
						case sum != want[made]:
							// The end, because what is broken might not stop.
							t.Fatalf("%s/%s: checksum %d of %d is %#x, want %#x", c.Name, v.Name, made, len(want), sum, want[made])
						}
						made++
					})
					for range rounds {
						r := round(inst)
						if wantOps == 0 {
							wantOps = r.Ops
						}
						if r.Ops != wantOps || r.Ops <= 0 {
							t.Errorf("%s/%s: %d operations, want %d", c.Name, v.Name, r.Ops, wantOps)
						}
					}
					inst.Close()
					if made != len(want) || made < rounds {
						t.Errorf("%s/%s: made %d things in %d rounds, want %d", c.Name, v.Name, made, rounds, len(want))
					}
				}
			}
		})
	}
}

// The baseline takes every object from the heap; nothing is kept on the stack
// or optimised away.
func TestNewAllocates(t *testing.T) {
	for name, perOp := range map[string]float64{
		"sizes": 1, "tree": 1, "chain": 1, "small": 1, "types": 1, "uneven": 1, "spike": 1, "kept": 1, "routes": 1, "request": 80,
		"slabpair": 1, "transfer": 1, "burst": 1,
		"churn":   0.49, // half of the steps free
		"payment": 2,
	} {
		w := find(t, name)
		for _, c := range w.Cases(config(t, w)) {
			if strings.Contains(c.Name, "live=1") {
				continue // the same program
			}
			inst := setup(t, c, c.Variants[0].Name)
			ops := float64(round(inst).Ops)
			allocs := testing.AllocsPerRun(1, func() { round(inst) })
			// The bit of slack is for what tests and other goroutines do.
			if allocs < perOp*ops*0.999 {
				t.Errorf("%s/%s: %.0f allocations for %.0f operations, want %v each", name, c.Name, allocs, ops, perOp)
			}
		}
	}
}

// Memory that is reused is not allocated: not once in a round.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	for _, name := range []string{"sizes", "tree", "chain", "request", "types"} {
		w := find(t, name)
		for _, c := range w.Cases(config(t, w)) {
			if strings.Contains(c.Name, "hammer") || strings.Contains(c.Name, "live=1") {
				continue
			}
			for _, variant := range []string{"arena+reset", "arena+pool", "lane+reset", "bump+reset"} {
				inst := setup(t, c, variant)
				r := workload.Round{Latencies: &workload.Histogram{}}
				for range 12 { // until all memory has its size
					inst.Round(&r)
				}
				allocs := testing.AllocsPerRun(5, func() {
					r.Clear()
					inst.Round(&r)
				})
				if perOp := allocs / float64(r.Ops); perOp >= 0.001 {
					t.Errorf("%s/%s/%s: %v allocations in %d operations", name, c.Name, variant, allocs, r.Ops)
				}
			}
		}
	}
}

// The same of slabs and pools. Goroutines and what they share are a few
// allocations in each round. A sync.Pool is left out, as it drops one object in
// four under the race detector.
func TestObjectsAreUsedAgain(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	for name, variants := range map[string][]string{
		"slabpair": {"mutex", "channel", "cache", "local", "pool.Bytes", "pool.Bytes+dirty"},
		"transfer": {"channel", "cache"},
		"churn":    {"cache"},
		"payment":  {"pool.Pool", "pool.Local"},
	} {
		w := find(t, name)
		for _, c := range w.Cases(config(t, w)) {
			for _, v := range c.Variants {
				if !slices.Contains(variants, v.Name) {
					continue
				}
				inst := setup(t, c, v.Name)
				r := workload.Round{Latencies: &workload.Histogram{}}
				for range 5 {
					inst.Round(&r)
				}
				allocs := testing.AllocsPerRun(5, func() {
					r.Clear()
					inst.Round(&r)
				})
				if perOp := allocs / float64(r.Ops); allocs > 30 && perOp >= 0.001 {
					t.Errorf("%s/%s/%s: %v allocations in %d operations", name, c.Name, v.Name, allocs, r.Ops)
				}
			}
		}
	}
}

// A new arena takes memory in chunks that grow, whatever the size of objects.
func TestFreshArenasTakeChunks(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	w := find(t, "sizes")
	for _, c := range w.Cases(config(t, w)) {
		if strings.Contains(c.Name, "hammer") {
			continue
		}
		for _, variant := range []string{"arena+fresh", "lane+fresh", "bump+fresh"} {
			inst := setup(t, c, variant)
			ops := float64(round(inst).Ops)
			allocs := testing.AllocsPerRun(1, func() { round(inst) })
			if allocs > 40+ops/100 {
				t.Errorf("%s/%s: %v allocations for %v objects", c.Name, variant, allocs, ops)
			}
		}
	}
}

func TestLatenciesOfRequests(t *testing.T) {
	w := find(t, "request")
	cases := w.Cases(config(t, w))
	live := cases[len(cases)-1]
	if !live.Sequential {
		t.Error("the processes with a large heap would be in memory together")
	}
	inst := setup(t, live, "arena+pool")
	r := round(inst)
	if int64(r.Latencies.Count()) != r.Ops {
		t.Errorf("%d latencies of %d requests", r.Latencies.Count(), r.Ops)
	}
}

func TestRequestMakesEightyObjectsOfTenTypes(t *testing.T) {
	objects := 0
	lanes := workload.ObjectsOf("request")
	for _, l := range lanes {
		objects += l.Count
	}
	if objects != 80 || len(lanes) != 10 {
		t.Errorf("%d objects of %d types: %v", objects, len(lanes), lanes)
	}
}

func TestTypesAreSixtyOfTwelveSizes(t *testing.T) {
	lanes := workload.ObjectsOf("types")
	objects, sizes := 0, map[int]int{}
	for _, l := range lanes {
		objects += l.Count
		sizes[l.Size]++
	}
	if objects != 50_000 || len(lanes) != 60 {
		t.Errorf("%d objects of %d types", objects, len(lanes))
	}
	if strconv.IntSize == 64 && len(sizes) != 12 {
		t.Errorf("%d sizes: %v", len(sizes), sizes)
	}
}

func TestRecordSizes(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the sizes in the documentation are those on machines of 64 bits")
	}
	for name, sizes := range workload.RecordSizes {
		if sizes[0] != sizes[1] {
			t.Errorf("%s takes %d bytes, want %d", name, sizes[0], sizes[1])
		}
	}
}

func TestResetKeepsWhatIsReserved(t *testing.T) {
	c := find(t, "reset").Cases(workload.Config{})[0]
	for variant, want := range map[string]int{"reserved=64KB": 64 << 10, "reserved=64MB": 64 << 20} {
		inst := setup(t, c, variant)
		for range 2 {
			round(inst)
			for _, got := range workload.ResetReserved(inst) {
				if got != want {
					t.Errorf("%s: %d bytes reserved after a round, want %d", variant, got, want)
				}
			}
		}
	}
}

func TestCyclesAreReported(t *testing.T) {
	for name, want := range map[string][]string{
		"resident": {"gc-cpu-ns/cycle", "build-ns"},
		"handles":  {"gc-cpu-ns/cycle", "build-ns", "walk-ns/node"},
	} {
		w := find(t, name)
		c := w.Cases(config(t, w))[0]
		for _, v := range c.Variants {
			r := round(setup(t, c, v.Name))
			var names []string
			for _, f := range r.Extras() {
				names = append(names, f.Name)
				if f.Value <= 0 {
					t.Errorf("%s/%s: %s is %v", name, v.Name, f.Name, f.Value)
				}
			}
			if !slices.Equal(names, want) || r.Ops != 3 {
				t.Errorf("%s/%s: figures %v of %d cycles, want %v of 3", name, v.Name, names, r.Ops, want)
			}
		}
	}
}

// The nodes of variant table are what the collector does not look into.
func TestHandlesHaveNoPointers(t *testing.T) {
	if s := workload.HandleNodeShape(); !s.PointerFree() {
		t.Error(s)
	}
}

func TestChurnAccounts(t *testing.T) {
	f := workload.ChurnAccounts(4)
	if f.Wrong != 0 || f.Allocated != f.Freed+f.Alive {
		t.Errorf("%+v: want what was allocated to be freed once or alive", f)
	}
	if f.Alive < 95_000 || f.Alive > 105_000 {
		t.Errorf("%d objects alive, want about 100,000", f.Alive)
	}
	if f.Allocated < 100_000+4*95_000 {
		t.Errorf("%d allocations, want half as many as steps", f.Allocated)
	}
	if f.Foreign[0] == 0 || f.Foreign[1] == 0 {
		t.Errorf("%v objects freed by the other worker, want some by each", f.Foreign)
	}
	// Of the objects in the places that are picked most none is old, of the
	// others more than a half.
	if f.Old[0] > 500 || f.Old[1] < 40_000 || f.Old[1] > 65_000 {
		t.Errorf("%v objects are alive since the beginning", f.Old)
	}
}

// What is held after a burst, of the 10 MB at its peak: by the heap nothing, by
// a deque everything, and by a sync.Pool everything until the second collection.
func TestBurstReportsWhatIsHeld(t *testing.T) {
	w := find(t, "burst")
	c := w.Cases(config(t, w))[0]
	const peak, little = 10_000 << 10, 1 << 20
	for variant, want := range map[string][2]float64{
		"new": {0, 0}, "deque": {peak, peak}, "sync.Pool": {peak, 0},
	} {
		testkit.CollectGarbage() // what the test before left
		r := round(setup(t, c, variant))
		figures := r.Extras()
		if len(figures) != 2 || figures[0].Name != "after-1s-bytes" || figures[1].Name != "after-2s-bytes" {
			t.Fatalf("%s: figures %v", variant, figures)
		}
		for i, f := range figures {
			if f.Value < want[i]-little || f.Value > want[i]+little {
				t.Errorf("%s: %s is %.0f, want about %.0f", variant, f.Name, f.Value, want[i])
			}
		}
	}
	full := w.Cases(workload.Config{})[0]
	if !full.Concurrent {
		t.Error("the variants would wait for half a minute one after the other")
	}
}

func TestPaymentTimesSomeRequests(t *testing.T) {
	w := find(t, "payment")
	r := round(setup(t, w.Cases(config(t, w))[0], "pool.Pool"))
	if n, want := int64(r.Latencies.Count()), r.Ops/4/8; n != want {
		t.Errorf("%d latencies, want %d", n, want)
	}
}

func TestSmallReportsRelease(t *testing.T) {
	w := find(t, "small")
	inst := setup(t, w.Cases(config(t, w))[0], "arena+reset")
	r := round(inst)
	if x := r.Extras(); len(x) != 1 || x[0].Name != "release-ns" || x[0].Value <= 0 {
		t.Errorf("figures %v", x)
	}
}

func TestJSONInputErrors(t *testing.T) {
	w := find(t, "jsontree")
	dir := t.TempDir()
	for text, want := range map[string]string{
		"{\"a\":1,\n  }":  "doc.json: line 2, column 3: unexpected '}'",
		"":                "doc.json: no JSON document",
		" \n":             "doc.json: no JSON document",
		"{\"a\":1}\n[1,2": "doc.json: line 2, column 5: unexpected end of input",
	} {
		path := filepath.Join(dir, "spooled")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := w.Check(workload.Config{In: path, InName: "doc.json"})
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line that begins with %s", text, err, want)
		}
	}
	err := w.Check(workload.Config{In: filepath.Join(dir, "missing"), InName: "doc.json"})
	if err == nil || !strings.HasPrefix(err.Error(), "doc.json: ") || strings.Contains(err.Error(), dir) {
		t.Errorf("missing file: error %v", err)
	}
}

// The default input is made once, in the parent.
func TestJSONPrepare(t *testing.T) {
	w := find(t, "jsontree")
	cfg, dir := workload.Config{}, t.TempDir()
	if err := w.Prepare(&cfg, dir); err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(cfg.In) != dir || !strings.HasPrefix(cfg.InName, "go list -json -deps std") {
		t.Errorf("prepared %+v", cfg)
	}
	if err := w.Check(cfg); err != nil {
		t.Error(err)
	}
	given := workload.Config{In: "x", InName: "y"}
	if err := w.Prepare(&given, dir); err != nil || given.In != "x" || given.InName != "y" {
		t.Errorf("input of the user: %+v, %v", given, err)
	}
}
