//go:build haven_check && unix

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
)

type order struct {
	id   int
	note string
}

// monitored are crashes of a program of the check build in a goroutine that nobody
// prepared.
var monitored = map[string]struct {
	crash func(o *order)
	want  []string
}{
	"a string": {func(o *order) { os.Stdout.WriteString("the note: " + o.note) },
		[]string{"fatal error: fault", "haven: use after release: a pointer that was read from released memory was followed",
			`memory: a check_test.order of arena "requests"`, "allocated at", "released at", "found at", "monitor_check_test.go"}},
	"a number": {func(o *order) { os.Stdout.Write(make([]byte, 10)[o.id:]) },
		[]string{"haven: use after release: runtime error: slice bounds out of range [-2604246222170760229:]", "memory: not known"}},
	"a number for a length": {func(o *order) { os.Stdout.Write(make([]byte, o.id)) },
		[]string{"haven: perhaps a use after release: runtime error: makeslice: len out of range"}},
	"another panic": {func(o *order) { panic("oops") }, nil},
}

// A monitor explains what ends a program of the check build.
func TestMonitorOfCheckBuild(t *testing.T) {
	if name := os.Getenv("HAVEN_TEST_CRASH"); name != "" {
		a := arena.NewArena(arena.Config{Name: "requests"})
		arena.New[order](a)
		a.Reset()
		o := arena.New[order](a)
		a.Reset()
		done := make(chan bool)
		go func() {
			monitored[name].crash(o)
			close(done)
		}()
		<-done
		return
	}
	for name, c := range monitored {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMonitorOfCheckBuild$")
			cmd.Env = append(os.Environ(), "HAVEN_TEST_CRASH="+name, "HAVEN_CHECK=")
			b, err := cmd.CombinedOutput() // the monitor has its standard error, so it has ended as well
			if err == nil {
				t.Fatalf("no crash:\n%s", b)
			}
			text := string(b)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if c.want == nil && strings.Contains(text, "haven: ") {
				t.Errorf("a report:\n%s", text)
			}
		})
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("HAVEN_TEST_CRASH") != "" || os.Getenv("HAVEN_GUARD_MONITOR") != "" {
		if err := check.MonitorGuard(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(m.Run())
}
