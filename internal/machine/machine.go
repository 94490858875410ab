// Package machine describes where a program runs, for reports of measurements and of
// stress.
package machine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Machine says where a report comes from. Unknown fields are empty.
type Machine struct {
	CPU        string `json:"cpu"`
	GOOS       string `json:"goos"`
	GOARCH     string `json:"goarch"`
	NumCPU     int    `json:"num_cpu"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	GoVersion  string `json:"go_version"`
	// Commit is the revision of Haven, with "+dirty" when files were changed.
	Commit string `json:"commit,omitempty"`
	// Env holds GOGC, GOMEMLIMIT, GODEBUG and GOEXPERIMENT where set.
	Env map[string]string `json:"env,omitempty"`
}

// This describes where the program runs, as far as can be found out. On some systems
// it starts a process to ask.
func This() Machine {
	m := Machine{
		CPU:        cpuModel(),
		GOOS:       runtime.GOOS,
		GOARCH:     runtime.GOARCH,
		NumCPU:     runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		GoVersion:  runtime.Version(),
		Commit:     commit(),
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOEXPERIMENT"} {
		if v := os.Getenv(name); v != "" {
			if m.Env == nil {
				m.Env = map[string]string{}
			}
			m.Env[name] = v
		}
	}
	return m
}

// cpuModel returns the processor's name, "" when the system does not tell.
func cpuModel() string {
	switch runtime.GOOS {
	case "linux":
		info, err := os.ReadFile("/proc/cpuinfo")
		if err == nil {
			return parseCPUInfo(info)
		}
	case "darwin":
		out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output()
		if err == nil {
			return strings.TrimSpace(string(out))
		}
	case "windows":
		return os.Getenv("PROCESSOR_IDENTIFIER")
	}
	return ""
}

// parseCPUInfo returns the first model name of a /proc/cpuinfo file.
func parseCPUInfo(info []byte) string {
	for line := range bytes.Lines(info) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		switch string(bytes.TrimSpace(key)) {
		case "model name", "Model", "cpu model":
			if ok {
				return string(bytes.TrimSpace(value))
			}
		}
	}
	return ""
}

// commit returns the revision of Haven: what the executable was stamped with,
// or else, as "go run" does not stamp, that of the work tree the command was
// given in, if it is Haven's.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		var rev, dirty string
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				rev = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "+dirty"
			}
		}
		if rev != "" {
			return rev[:min(12, len(rev))] + dirty
		}
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return ""
	}
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil || !bytes.HasPrefix(mod, []byte("module github.com/haven-mem/haven\n")) {
		return ""
	}
	rev, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
		rev += "+dirty"
	}
	return rev
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	return strings.TrimSpace(string(out)), err
}
