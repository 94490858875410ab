package stress

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
)

// TestModes runs a short stress in each mode, which finds nothing.
func TestModes(t *testing.T) {
	ops := int64(500_000)
	if testing.Short() {
		ops = 200_000
	}
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			status, r := stress(t, "-mode", m.name, "-seed", "7", "-goroutines", "4", "-ops", fmt.Sprint(ops))
			if status != 0 || len(r.Findings) != 0 {
				t.Fatalf("status %d, findings %+v", status, r.Findings)
			}
			if len(r.Runs) != 1 || r.Runs[0].Mode != m.name || r.Runs[0].Seed != 7 || r.Runs[0].Programs < 1 {
				t.Errorf("runs %+v", r.Runs)
			}
			if r.Operations < ops || r.Operations != r.Runs[0].Operations || r.Goroutines != 4 || r.Go != runtime.Version() || r.Machine.NumCPU < 1 || r.Seconds <= 0 {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// TestPlanted checks that bugs are found, and found again by the command that the
// finding names, at the same step and in the same words.
func TestPlanted(t *testing.T) {
	testkit.Unguarded(t) // or the guard finds some first
	for name, p := range plants {
		t.Run(name, func(t *testing.T) {
			if check.Enabled && p.perP {
				t.Skip("the check build keeps what was freed from being used again")
			}
			t.Setenv(plantVar, name)
			status, r := stress(t, "-seed", "16", "-goroutines", "1", "-ops", "800000")
			if status != 1 || len(r.Findings) != 1 {
				t.Fatalf("status %d, findings %+v", status, r.Findings)
			}
			if check.Enabled || sanitize.Poisons {
				return // a report of the check build or a sanitizer, or a fault, comes before what is wanted
			}
			f := r.Findings[0]
			if !strings.Contains(f.What, p.want) {
				t.Errorf("found %q, want something with %q", f.What, p.want)
			}
			if crash := name == "a crash"; crash != (f.Goroutine < 0) || crash != (len(f.Steps) == 0) || crash && !strings.Contains(f.Output, "fatal error") {
				t.Errorf("found %+v", f)
			}
			again := strings.Fields(f.Repeat)
			if len(again) < 3 || again[0] != "haven" || again[1] != "stress" {
				t.Fatalf("to repeat it: %q", f.Repeat)
			}
			status, r = stress(t, again[2:]...)
			if status != 1 || len(r.Findings) != 1 {
				t.Fatalf("%s: status %d, findings %+v", f.Repeat, status, r.Findings)
			}
			g := r.Findings[0]
			if p.perP {
				if !strings.Contains(g.What, p.want) {
					t.Errorf("%s: found %q, want something with %q", f.Repeat, g.What, p.want)
				}
				return
			}
			if g.Seed != f.Seed || g.Step != f.Step || withoutAddresses(g.What) != withoutAddresses(f.What) || strings.Join(g.Steps, "\n") != strings.Join(f.Steps, "\n") {
				t.Errorf("%s: found %+v, want the same as before: %+v", f.Repeat, g, f)
			}
			if testing.Short() {
				return
			}
			if status, r := stress(t, "-seed", "16", "-goroutines", "3", "-ops", "2000000"); status != 1 || len(r.Findings) != 1 {
				t.Errorf("with three goroutines: status %d, findings %+v", status, r.Findings)
			}
		})
	}
}

func withoutAddresses(s string) string {
	return regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllString(s, "0x")
}

// TestText checks what a finding looks like without -json.
func TestText(t *testing.T) {
	t.Setenv(plantVar, "a later program")
	var stdout, stderr strings.Builder
	if status := Run([]string{"-seed", "0x10", "-goroutines", "1", "-ops", "500000", "-mode", "gogc1"}, &stdout, &stderr); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	want := regexp.MustCompile(`(?s)^FOUND in mode gogc1, program 17, goroutine 0, step \d+:
  chain of \d+ stress.cell in arena 1, cell \d+: word 2 of 6 at 0x[0-9a-f]+ is 0x[0-9a-f]+, want 0x[0-9a-f]+
the steps before, the last one in the end:
(?:  step \d+: [^\n]+\n){20}to repeat it: haven stress -mode gogc1 -goroutines 1 -seed 17 -ops 200000
gogc1 +seed 16: [\d,]+ operations in 1 programs and [\d.]+ s, [\d.]+ million a second, findings: 1
[\d,]+ operations in [\d.]+ s with 1 goroutines on \S+, findings: 1
$`)
	if !want.MatchString(stdout.String()) || stderr.Len() > 0 {
		t.Errorf("standard output:\n%s\nwant\n%s\nstandard error: %q", &stdout, want, &stderr)
	}
}

// TestChoices checks that what a worker does follows from its seed, whatever the
// collector does meanwhile.
func TestChoices(t *testing.T) {
	programs := uint64(30)
	if testing.Short() {
		programs = 5
	}
	trace := func(seed uint64, each func(*worker)) (sum uint64) {
		h := fnv.New64a()
		var ops atomic.Int64
		p := newShared(seed, 1, &ops, new(atomic.Bool))
		last := 0
		p.hook = func(w *worker) {
			for ; last < w.trail.n; last++ {
				r := w.trail.last[last%len(w.trail.last)]
				fmt.Fprintln(h, r.step, r.op, r.kind, r.which, r.in, r.n)
			}
			each(w)
		}
		if f := p.run(20_000); f != nil {
			t.Fatalf("seed %d: %+v", seed, f)
		}
		fmt.Fprintln(h, ops.Load())
		return h.Sum64()
	}
	seen := map[uint64]bool{}
	for seed := range programs {
		one := trace(seed, func(*worker) {})
		two := trace(seed, func(w *worker) {
			if w.steps%200 == 0 {
				runtime.GC()
			}
		})
		if one != two {
			t.Errorf("seed %d: two runs did different steps", seed)
		}
		if seen[one] {
			t.Errorf("seed %d: does what another seed does", seed)
		}
		seen[one] = true
	}
}

// TestTime checks that -for ends a run.
func TestTime(t *testing.T) {
	start := time.Now()
	status, r := stress(t, "-for", "1s", "-mode", "plain,procs")
	if took := time.Since(start); status != 0 || len(r.Runs) != 2 || r.Seconds < 0.9 || took < time.Second*9/10 {
		t.Errorf("status %d after %v, %+v", status, took, r)
	}
}

// TestEnvironment checks what the process of a mode is told.
func TestEnvironment(t *testing.T) {
	t.Setenv("GODEBUG", "inittrace=0")
	t.Setenv("GORACE", "")
	m, _ := modeNamed("clobberfree")
	env := m.environment()
	for _, want := range []string{"GODEBUG=inittrace=0,clobberfree=1", "GOGC=10", "GORACE=halt_on_error=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// TestProgress checks when something is said.
func TestProgress(t *testing.T) {
	var b strings.Builder
	now := time.Now()
	p := &progress{w: &b, start: now.Add(-time.Minute), next: now.Add(time.Hour)}
	p.tell("plain", event{Seed: 3, Ops: 10})
	if b.Len() > 0 {
		t.Errorf("said too early: %q", b.String())
	}
	p.next, p.before = now, 1_000_000
	p.tell("plain", event{Seed: 3, Ops: 10})
	p.tell("plain", event{Seed: 3, Ops: 20})
	if want := "haven stress:  60 s, 1,000,010 operations, mode plain, program 3\n"; b.String() != want {
		t.Errorf("said %q, want %q", b.String(), want)
	}
}

// TestClipped checks what is kept of the output of a process.
func TestClipped(t *testing.T) {
	var c clipped
	for i := range 10_000 {
		fmt.Fprintf(&c, "%5d\n", i)
	}
	s := c.String()
	if !strings.HasPrefix(s, "    0\n") || !strings.HasSuffix(s, " 9999\n") || len(s) > 2*clipLimit+8 || !strings.Contains(s, "\n…\n") {
		t.Errorf("%d bytes: %.20q … %q", len(s), s, s[len(s)-20:])
	}
	c = clipped{}
	fmt.Fprint(&c, "short")
	if c.String() != "short" {
		t.Errorf("%q", c.String())
	}
}
