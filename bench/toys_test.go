package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/haven-mem/haven/bench"
	"github.com/haven-mem/haven/bench/workload"
)

// The test executable plays the command: it serves a variant when the harness
// starts it as a child, and runs the harness when a test starts it as parent.
const parentCommand = "__bench-parent"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case bench.ChildCommand:
			os.Exit(bench.Child(testWorkloads(), os.Stdin, os.Stdout))
		case parentCommand:
			os.Exit(bench.Run(testWorkloads(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	os.Exit(m.Run())
}

// A toy allocates n objects a pass, or reuses them.
type toy struct {
	n     int
	reuse bool
	kept  []*[8]int
	pass  int
}

func (y *toy) Round(r *workload.Round) {
	fmt.Println("a workload that prints must not disturb the replies")
	y.pass++
	for i := range y.n {
		if y.reuse && len(y.kept) == y.n {
			*y.kept[i] = [8]int{}
			continue
		}
		if len(y.kept) == y.n {
			y.kept = y.kept[:0]
		}
		y.kept = append(y.kept, new([8]int))
	}
	r.Ops = int64(y.n)
	r.Latencies.Add(time.Duration(1000 * y.n))
	r.SetExtra("pass", float64(y.pass))
	r.SetExtra("env-ns", float64(len(os.Getenv("GOGC"))))
}

func (y *toy) Close() {}

// A cycler runs one collection a round and says that a round took 5 ms.
type cycler struct{}

func (cycler) Round(r *workload.Round) {
	runtime.GC()
	r.Ops, r.Elapsed = 1, 5*time.Millisecond
}
func (cycler) Close() {}

type roundFunc func(r *workload.Round)

func (f roundFunc) Round(r *workload.Round) { f(r) }
func (f roundFunc) Close()                  {}

func variant(name string, inst workload.Instance) workload.Variant {
	return workload.Variant{Name: name, Setup: func() (workload.Instance, error) { return inst, nil }}
}

func testWorkloads() []workload.Workload {
	toys := func(n int) []workload.Variant {
		return []workload.Variant{
			variant("reuse", &toy{n: n, reuse: true}),
			variant("new", &toy{n: n}),
		}
	}
	return []workload.Workload{
		{
			Name: "toy", Doc: "objects in a slice", Unit: "object",
			Check: func(cfg workload.Config) error {
				if cfg.In == "" {
					return nil
				}
				data, err := os.ReadFile(cfg.In)
				if err == nil && !json.Valid(data) {
					err = fmt.Errorf("%s: line 1, column 2:\nnot JSON", cfg.InName)
				}
				return err
			},
			Cases: func(workload.Config) []workload.Case {
				return []workload.Case{
					{Name: "n=100", Baseline: "new", Variants: toys(100)},
					{Name: "n=9", Baseline: "new", Variants: toys(9), Sequential: true, SinglePass: true},
				}
			},
		},
		{
			Name: "cycle", Doc: "collections", Unit: "cycle",
			Cases: func(workload.Config) []workload.Case {
				return []workload.Case{{Variants: []workload.Variant{variant("new", cycler{})}}}
			},
		},
		{
			Name: "bad", Doc: "what can go wrong", Unit: "object",
			Cases: func(workload.Config) []workload.Case {
				return []workload.Case{
					{Name: "crash", Variants: []workload.Variant{variant("new", roundFunc(func(*workload.Round) { panic("no more luck") }))}},
					{Name: "setup", Variants: []workload.Variant{{Name: "new", Setup: func() (workload.Instance, error) {
						return nil, errors.New("nothing to set up")
					}}}},
					{Name: "zero", Variants: []workload.Variant{variant("new", roundFunc(func(*workload.Round) {}))}},
					{Name: "hang", SinglePass: true, Variants: []workload.Variant{variant("new", hang())}},
					{Name: "alone", Concurrent: true, Variants: []workload.Variant{
						variant("new", waitForEver()),
						variant("other", roundFunc(func(*workload.Round) { panic("no more luck") })),
					}},
					{Name: "wait", Concurrent: true, Variants: []workload.Variant{variant("new", waitForEver())}},
				}
			},
		},
		{
			Name: "meet", Doc: "rounds that wait for each other", Unit: "object",
			Cases: func(workload.Config) []workload.Case {
				return []workload.Case{{Concurrent: true, Variants: []workload.Variant{
					variant("new", &guest{name: "new", other: "arena"}),
					variant("arena", &guest{name: "arena", other: "new"}),
				}}}
			},
		},
		{
			Name: "prepared", Doc: "input made by the parent", Unit: "byte",
			Prepare: func(cfg *workload.Config, dir string) error {
				cfg.In, cfg.InName = filepath.Join(dir, "made"), "the made input"
				return os.WriteFile(cfg.In, []byte("0123456789"), 0o666)
			},
			Cases: func(cfg workload.Config) []workload.Case {
				return []workload.Case{{Variants: []workload.Variant{{Name: "heap", Setup: func() (workload.Instance, error) {
					data, err := os.ReadFile(cfg.In)
					return roundFunc(func(r *workload.Round) { r.Ops = int64(len(data)) }), err
				}}}}}
			},
		},
	}
}

// A guest is an instance whose round does not end before the other's has begun.
type guest struct {
	name, other string
	rounds      int
}

// meetingPlace is the environment variable with the folder where guests leave a
// file for each round.
const meetingPlace = "HAVEN_BENCH_MEET"

func (g *guest) Round(r *workload.Round) {
	g.rounds++
	file := func(name string) string {
		return filepath.Join(os.Getenv(meetingPlace), fmt.Sprintf("%s%d", name, g.rounds))
	}
	if err := os.WriteFile(file(g.name), nil, 0o666); err != nil {
		panic(err)
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file(g.other)); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			panic("nobody came")
		}
	}
	r.Ops = 1
	r.SetExtra("round", float64(g.rounds))
}

func (g *guest) Close() {}

func waitForEver() workload.Instance {
	return roundFunc(func(*workload.Round) { select {} })
}

// hang returns an instance whose fourth round waits for ever.
func hang() workload.Instance {
	n := 0
	return roundFunc(func(r *workload.Round) {
		r.Ops = 1
		if n++; n == 4 {
			select {}
		}
	})
}
