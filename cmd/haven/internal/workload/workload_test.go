package workload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/haven-mem/haven/cmd/haven/internal/workload"
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
	want := []string{"sizes", "tree", "chain", "small", "request", "types", "resident", "jsontree", "reset"}
	if !slices.Equal(names, want) {
		t.Errorf("workloads %v, want %v", names, want)
	}
}

// All variants of a case make the same data in every round, whether their
// memory is new or used before. Rounds are enough for a ring of five to turn.
func TestVariantsMakeTheSame(t *testing.T) {
	for _, w := range workload.All() {
		t.Run(w.Name, func(t *testing.T) {
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
		"sizes": 1, "tree": 1, "chain": 1, "small": 1, "types": 1, "request": 80,
	} {
		w := find(t, name)
		for _, c := range w.Cases(config(t, w)) {
			if strings.Contains(c.Name, "live=1") {
				continue // the same program
			}
			inst := setup(t, c, "new")
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

func TestResidentReportsCyclesAndBuild(t *testing.T) {
	w := find(t, "resident")
	inst := setup(t, w.Cases(config(t, w))[0], "new")
	r := round(inst)
	values := map[string]float64{}
	for _, e := range r.Extras() {
		values[e.Name] = e.Value
	}
	if values["gc-cpu-ns/cycle"] <= 0 || values["build-ns"] <= 0 {
		t.Errorf("figures %v", values)
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
