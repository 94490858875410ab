package misuse_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/haven-mem/haven/check"
)

// modeVar is the environment variable that makes this test a child process, which
// reads the names of trials and makes them.
const modeVar = "HAVEN_MISUSE"

// TestTrials is the child process.
func TestTrials(t *testing.T) {
	name := os.Getenv(modeVar)
	if name == "" {
		t.Skip("for child processes, see TestTable")
	}
	check.Handle(report)
	check.OnGuard(report)
	wanted, err := io.ReadAll(os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modes {
		if m.name == name {
			running = m
		}
	}
	for x := range strings.Lines(string(wanted)) {
		trialOf(strings.TrimSuffix(x, "\n")).run()
	}
}

// made is what child processes printed of a trial.
type made struct {
	text string
	died bool // with the process
}

// leases reports whether memory that others had before is used.
func (t *trial) leases() bool { return strings.HasPrefix(t.kind.name, "context") }

// make makes trials in child processes: where one ends, another goes on.
func (m mode) make(list []*trial) (map[*trial]made, error) {
	all := map[*trial]made{}
	for len(list) > 0 {
		n := len(list)
		if m.batch > 0 {
			n = min(n, m.batch)
		}
		for i := 1; i < n && m.pooled; i++ {
			// The race detector does not tell all that earlier trials did there apart.
			if list[0].leases() || list[i].leases() {
				n = i
			}
		}
		var names strings.Builder
		for _, x := range list[:n] {
			names.WriteString(x.String() + "\n")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestTrials$", "-test.timeout=5m")
		cmd.Env = append(append(os.Environ(), m.env...), modeVar+"="+m.name)
		cmd.Stdin = strings.NewReader(names.String())
		b, err := cmd.CombinedOutput()
		parts := strings.Split(string(b), mark+"trial ")[1:]
		for i, part := range parts {
			name, text, _ := strings.Cut(part, "\n")
			died := !strings.Contains(text, mark+"done\n")
			if name != list[i].String() || died && i < len(parts)-1 {
				return all, fmt.Errorf("not the output of %v:\n%s", list[i], part)
			}
			all[list[i]] = made{text, died}
		}
		if len(parts) == 0 || err == nil && len(parts) < n {
			return all, fmt.Errorf("a child process made %d of %d trials: %v\n%s", len(parts), n, err, b)
		}
		list = list[len(parts):]
	}
	return all, nil
}
