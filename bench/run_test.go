package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/haven-mem/haven/bench"
)

// run runs the harness in this process, its children in processes of theirs.
func run(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = bench.Run(testWorkloads(), args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

func runJSON(t *testing.T, args ...string) *bench.Report {
	t.Helper()
	status, stdout, stderr := run(t, "", append([]string{"-json"}, args...)...)
	if status != 0 {
		t.Fatalf("status %d, standard error:\n%s", status, stderr)
	}
	var r bench.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in\n%s", err, stdout)
	}
	return &r
}

func TestRunMeasures(t *testing.T) {
	t.Setenv("GOGC", "12345")
	r := runJSON(t, "-rounds", "3", "-run", "^toy")
	if len(r.Cases) != 2 || r.Schema != 1 || r.Machine.GoVersion != runtime.Version() || r.Machine.Env["GOGC"] != "12345" {
		t.Fatalf("%d cases, schema %d, machine %+v", len(r.Cases), r.Schema, r.Machine)
	}
	for _, c := range r.Cases {
		single := c.Case == "n=9"
		if single != (c.Passes == 1) || single != c.Sequential {
			t.Errorf("%s: %d passes, sequential=%v", c.Case, c.Passes, c.Sequential)
		}
		if len(c.Variants) != 2 {
			t.Fatalf("%s: %d variants", c.Case, len(c.Variants))
		}
		ops := int64(100 * c.Passes)
		if single {
			ops = 9
		}
		for _, v := range c.Variants {
			if len(v.Rounds) != 3 {
				t.Errorf("%s/%s: %d rounds, want 3", c.Case, v.Name, len(v.Rounds))
			}
			for i, round := range v.Rounds {
				if round.Ops != ops || round.NS <= 0 {
					t.Errorf("%s/%s round %d: %+v, want %d operations", c.Case, v.Name, i, round, ops)
				}
				if round.Extras[1].Value != float64(len("12345")) {
					t.Errorf("%s/%s: the child does not see GOGC", c.Case, v.Name)
				}
			}
			// Warm-up is thrown away, from the latencies too.
			if n := uint64(3 * c.Passes); v.Latency == nil || v.Latency.Count != n {
				t.Errorf("%s/%s: latencies %+v, want %d", c.Case, v.Name, v.Latency, n)
			}
			if runtime.GOOS == "linux" && v.PeakRSSBytes < 1<<20 {
				t.Errorf("%s/%s: peak RSS %d", c.Case, v.Name, v.PeakRSSBytes)
			}
		}
		reuse, fresh := c.Variants[0], c.Variants[1]
		if fresh.Summary.Speedup != nil || reuse.Summary.Speedup == nil {
			t.Errorf("%s: speedups %v and %v", c.Case, fresh.Summary.Speedup, reuse.Summary.Speedup)
		}
		if c.Case == "n=100" {
			// The test's print allocates less than once per pass and object.
			if a, b := fresh.Summary.AllocsPerOp, reuse.Summary.AllocsPerOp; a < 1 || b > 0.2 {
				t.Errorf("allocs/op: %v for new and %v for reuse", a, b)
			}
			if b := fresh.Summary.BytesPerOp; b < strconv.IntSize {
				t.Errorf("B/op for new: %v, want the bytes of 8 ints, %d, or more", b, strconv.IntSize)
			}
		}
	}
}

func TestRunCountsCollections(t *testing.T) {
	r := runJSON(t, "-rounds", "2", "-run", "^cycle")
	c := r.Cases[0]
	for _, round := range c.Variants[0].Rounds {
		if int64(round.GCs) != round.Ops || round.GCCPUNS <= 0 {
			t.Errorf("%+v: want a collection per operation and its CPU time", round)
		}
		if round.NS != 5e6*round.Ops {
			t.Errorf("%+v: want 5 ms per operation, as the workload says", round)
		}
	}
}

// The variants of a Concurrent case run at the same time: these would otherwise
// wait for each other in vain. There is one round and no warm-up.
func TestConcurrentCase(t *testing.T) {
	for _, tc := range []struct {
		args   []string
		rounds int
	}{
		{nil, 1},
		{[]string{"-rounds", "3"}, 3},
	} {
		t.Setenv(meetingPlace, t.TempDir())
		r := runJSON(t, append(tc.args, "-run", "^meet")...)
		c := r.Cases[0]
		if !c.Concurrent || c.Passes != 1 || len(c.Variants) != 2 {
			t.Fatalf("concurrent=%v, %d passes, %d variants", c.Concurrent, c.Passes, len(c.Variants))
		}
		for _, v := range c.Variants {
			if len(v.Rounds) != tc.rounds {
				t.Errorf("%q: %s has %d rounds, want %d", tc.args, v.Name, len(v.Rounds), tc.rounds)
			}
			for i, round := range v.Rounds {
				if n := round.Extras[0].Value; n != float64(i+1) {
					t.Errorf("%q: round %d of %s is number %v of its instance", tc.args, i, v.Name, n)
				}
			}
		}
	}
	t.Setenv(meetingPlace, t.TempDir())
	status, stdout, stderr := run(t, "", "-run", "^meet")
	if status != 0 || !strings.Contains(stdout, "1 round of 1 pass with 1 object, all variants at the same time\n") {
		t.Errorf("status %d, standard error %q, standard output\n%s", status, stderr, stdout)
	}
}

func TestPreparedInputReachesTheChildren(t *testing.T) {
	r := runJSON(t, "-rounds", "1", "-run", "prepared")
	if got := r.Cases[0].Variants[0].Rounds[0].Ops / int64(r.Cases[0].Passes); got != 10 {
		t.Errorf("%d bytes, want 10", got)
	}
}

func TestRunPrintsTables(t *testing.T) {
	dir := t.TempDir()
	html, md := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.md")
	status, stdout, stderr := run(t, "{}", "-quick", "-rounds", "2", "-run", "n=9", "-in", "-", "-html", html, "-markdown", md)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"toy/n=9: objects in a slice", "against new", "reuse", "The run took"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if !strings.HasPrefix(stderr, "toy/n=9: 2 variants, 2 rounds, ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("progress %q, want one line", stderr)
	}
	for path, want := range map[string]string{html: "</html>", md: "`haven bench -quick -in -`"} {
		if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s lacks %q (%v)", path, want, err)
		}
	}
}

func TestRunBenchfmt(t *testing.T) {
	status, stdout, stderr := run(t, "", "-benchfmt", "-rounds", "2", "-run", "toy/n=9/reuse")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var names []string
	reader := benchfmt.NewReader(strings.NewReader(stdout), "stdout")
	for reader.Scan() {
		res, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v in\n%s", reader.Result(), stdout)
		}
		names = append(names, string(res.Name))
	}
	// The baseline comes along.
	if got, want := strings.Join(names, " "), "Toy/impl=reuse/n=9 Toy/impl=reuse/n=9 Toy/impl=new/n=9 Toy/impl=new/n=9"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

func TestFailuresOfWorkloads(t *testing.T) {
	for _, tc := range []struct{ run, want string }{
		{"bad/crash", "haven bench: bad/crash/new: exit status 2; its standard error was:\npanic: no more luck"},
		{"bad/setup", "haven bench: bad/setup/new: setup: nothing to set up\n"},
		{"bad/zero", "haven bench: bad/zero/new: a round reported 0 operations\n"},
		// The other variant would wait for ever.
		{"bad/alone", "haven bench: bad/alone/other: exit status 2; its standard error was:\npanic: no more luck"},
	} {
		status, stdout, stderr := run(t, "", "-json", "-run", tc.run)
		if status != 1 || !strings.HasPrefix(stderr, tc.want) || stdout != "" {
			t.Errorf("%s: status %d, standard error %q, want 1 and %q; standard output %q", tc.run, status, stderr, tc.want, stdout)
		}
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	file := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"-fast"}, []string{"-fast", "-quick", "-markdown FILE"}},
		{[]string{"-rounds", "many"}, []string{`"many"`, "-rounds", "-rounds N"}},
		{[]string{"-rounds", "0"}, []string{"-rounds 0", "1 to 1000"}},
		{[]string{"-depth", "99"}, []string{"-depth 99", "1 to 24"}},
		{[]string{"-html", ""}, []string{"-html", "name of a file"}},
		{[]string{"-run"}, []string{"-run"}},
		{[]string{"-run", "("}, []string{`"("`, "missing closing"}},
		{[]string{"-run", "^nope"}, []string{`"^nope"`, "toy, cycle, bad, meet, prepared"}},
		{[]string{"tree"}, []string{`"tree"`, "flags"}},
		{[]string{"-json", "-benchfmt"}, []string{"-json and -benchfmt"}},
		{[]string{"-in", filepath.Join(dir, "absent.json")}, []string{"absent.json", "JSON"}},
		{[]string{"-run", "cycle", "-in", dir}, []string{dir, "directory"}},
		{[]string{"-in", file("bad.json", "{]")}, []string{"toy: ", "bad.json", "line 1, column 2"}},
		{[]string{"-html", filepath.Join(dir, "no", "page.html")}, []string{"-html", "page.html"}},
		{[]string{"-markdown", dir}, []string{"-markdown", dir}},
	} {
		status, stdout, stderr := run(t, "", tc.args...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "haven bench: ") {
			t.Errorf("%q: status %d, standard output %q, standard error %q; want 2, nothing and one line", tc.args, status, stdout, stderr)
		}
		for _, want := range tc.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: no %q in %q", tc.args, want, stderr)
			}
		}
	}
	status, _, stderr := run(t, "{]", "-in", "-")
	if status != 2 || stderr != "haven bench: toy: standard input: line 1, column 2: not JSON\n" {
		t.Errorf("standard input: status %d, %q", status, stderr)
	}
}

// A run that fails leaves no empty file behind, and an old one as it was.
func TestOutputsOfFailedRuns(t *testing.T) {
	dir := t.TempDir()
	fresh, old := filepath.Join(dir, "fresh.html"), filepath.Join(dir, "old.md")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := run(t, "", "-run", "bad/setup", "-html", fresh, "-markdown", old); status != 1 {
		t.Fatalf("status %d", status)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v, want it gone", fresh, err)
	}
	if data, _ := os.ReadFile(old); string(data) != "old" {
		t.Errorf("%s: %q", old, data)
	}
}

func TestList(t *testing.T) {
	status, stdout, _ := run(t, "", "-list")
	for _, want := range []string{"toy        objects in a slice\n", "    toy/n=9: reuse, new\n", "    cycle: new\n"} {
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, stdout)
		}
	}
	if status, stdout, _ = run(t, "", "-list", "-run", "n=100"); status != 0 || strings.Contains(stdout, "cycle") {
		t.Errorf("status %d, -run did not narrow the list:\n%s", status, stdout)
	}
}

func TestHelp(t *testing.T) {
	if status, stdout, stderr := run(t, "", "-h"); status != 0 || !strings.Contains(stdout, "-benchfmt") || stderr != "" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

// Ctrl-C while a round hangs: the children go, and what was measured is shown.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no way to send an interrupt to one process")
	}
	t.Run("turns", func(t *testing.T) { testInterrupt(t, "bad/hang") })
	t.Run("concurrent", func(t *testing.T) { testInterrupt(t, "bad/wait") })
}

func testInterrupt(t *testing.T, hanging string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, parentCommand, "-rounds", "20", "-json", "-run", "toy/n=9|"+hanging)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &lineWatcher{buf: &stderr, want: "toy/n=9", hit: func() {
		// The next case is the one that hangs; wherever in it the signal
		// comes, the first case is complete.
		cmd.Process.Signal(syscall.SIGINT)
	}}
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 130 {
		t.Fatalf("%v, want exit status 130; standard error:\n%s", err, stderr.String())
	}
	var r bench.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, stdout.String())
	}
	if !r.Interrupted || len(r.Cases) == 0 || len(r.Cases[0].Variants) != 2 || len(r.Cases[0].Variants[1].Rounds) != 20 {
		t.Errorf("interrupted=%v, %d cases", r.Interrupted, len(r.Cases))
	}
	if !strings.HasSuffix(stderr.String(), "haven bench: interrupted; the figures are those of the rounds before\n") {
		t.Errorf("standard error %q", stderr.String())
	}
}

// A lineWatcher calls hit once when what is written begins with want.
type lineWatcher struct {
	buf  *bytes.Buffer
	want string
	hit  func()
}

func (w *lineWatcher) Write(p []byte) (int, error) {
	w.buf.Write(p)
	if w.hit != nil && strings.HasPrefix(w.buf.String(), w.want) {
		w.hit()
		w.hit = nil
	}
	return len(p), nil
}

// A child whose parent is gone ends, even in the middle of a round.
func TestChildEndsWithItsParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, bench.ChildCommand)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"op":"setup","workload":"bad","case":"hang","variant":"new"}`,
		`{"op":"round","passes":1000}`,
	} {
		if _, err := fmt.Fprintln(stdin, line); err != nil {
			t.Fatal(err)
		}
	}
	stdin.Close()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
}

// A child waits for requests without being in a system call.
func TestChildWaitsInThePoller(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signal makes a process print its goroutines, and pipes block")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, bench.ChildCommand)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(stdin, `{"op":"setup","workload":"cycle","variant":"new"}`); err != nil {
		t.Fatal(err)
	}
	// The reply comes when the child has been at rest for a while.
	if err := json.NewDecoder(stdout).Decode(new(any)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGQUIT)
	cmd.Wait()
	if out := stderr.String(); !strings.Contains(out, "[IO wait") {
		t.Errorf("no goroutine waits in the poller:\n%s", out)
	}
}
