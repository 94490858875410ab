package load

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A Machine is where a report comes from.
type Machine struct {
	CPU        string // "" if the system does not tell
	NumCPU     int
	GOMAXPROCS int
	System     string // linux/amd64
	Go         string
	Commit     string   // of the work tree that the command was given in; "" if there is none
	Env        []string // settings of Go's runtime
}

func thisMachine() Machine {
	m := Machine{
		CPU:        cpuModel(),
		NumCPU:     runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		System:     runtime.GOOS + "/" + runtime.GOARCH,
		Go:         runtime.Version(),
		Commit:     commit(),
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOEXPERIMENT"} {
		if v := os.Getenv(name); v != "" {
			m.Env = append(m.Env, name+"="+v)
		}
	}
	return m
}

// String describes the machine in a line.
func (m Machine) String() string {
	s := fmt.Sprintf("%d CPUs, GOMAXPROCS %d, %s, %s", m.NumCPU, m.GOMAXPROCS, m.System, m.Go)
	if m.CPU != "" {
		s = m.CPU + ", " + s
	}
	return strings.Join(append([]string{s}, m.Env...), ", ")
}

// cpuModel returns the first model name of /proc/cpuinfo.
func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(info) {
		if key, value, _ := bytes.Cut(line, []byte(":")); string(bytes.TrimSpace(key)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// commit returns the revision of the work tree in which the command was given, if
// it is Haven's.
func commit() string {
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	mod, _ := os.ReadFile(filepath.Join(git("rev-parse", "--show-toplevel"), "go.mod"))
	if !bytes.HasPrefix(mod, []byte("module github.com/haven-mem/haven\n")) {
		return ""
	}
	rev := git("rev-parse", "--short=12", "HEAD")
	if git("status", "--porcelain", "--untracked-files=no") != "" {
		rev += "+dirty"
	}
	return rev
}
