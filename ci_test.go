//go:build go1.25 && unix

package haven_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCINeed runs steps of .ci/run that need a command which is missing. Only with
// CI=true is anything installed, here by a command apt-get that writes down what it was
// told; otherwise the step says what to install, and counts as skipped.
func TestCINeed(t *testing.T) {
	// So that the go command runs the test again when one of them changes.
	for _, name := range []string{".ci/run", ".ci/lib"} {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, step, ci string
		commands       string // in PATH beside those of the script
		apt            string // how apt-get ends
		told           int    // how often apt-get is called
		last, output   string
	}{
		{"a person's machine", "chromium", "", "", "true", 0, "0 passed, 0 failed, 1 skipped, ", "apt-get install chromium"},
		{"not quite true", "chromium", "1", "", "true", 0, "0 passed, 0 failed, 1 skipped, ", "skipped: chromium\n"},
		{"no C compiler", "race", "", "", "true", 0, "0 passed, 0 failed, 1 skipped, ", "apt-get install gcc libc6-dev"},
		{"no C compiler to run", "stress-race", "", "", "true", 0, "0 passed, 0 failed, 1 skipped, ", "skipped: stress-race\n"},
		{"no C compiler for asan", "asan", "", "", "true", 0, "0 passed, 0 failed, 1 skipped, ", "skipped: asan\n"},
		{"CI", "chromium", "true", "", "true", 2, "1 passed, 0 failed, 0 skipped, ", "ok"},
		{"CI without network", "race", "true", "", "false", 1, "0 passed, 1 failed, 0 skipped, ", "failed: race\n"},
		{"it is there", "chromium", "true", "chromium", "false", 0, "1 passed, 0 failed, 0 skipped, ", "ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
			for _, name := range strings.Fields("bash dirname env go grep mktemp rm sed tail true false") {
				path, err := exec.LookPath(name)
				if err != nil {
					t.Skip(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			scripts := map[string]string{"apt-get": `echo "$*" >>"` + told + `"; ` + test.apt, "sudo": `"$@"`}
			for _, name := range strings.Fields(test.commands) {
				scripts[name] = "true"
			}
			for name, text := range scripts {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(".ci/run", test.step)
			cmd.Env = append(os.Environ(), "PATH="+bin, "CI="+test.ci, "CC=no-such-compiler")
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, test.last) || !strings.Contains(string(out), test.output) {
				t.Errorf(".ci/run %s prints\n%swant %q in it and %q in the last line", test.step, out, test.output, test.last)
			}
			if (err != nil) != strings.Contains(test.last, " 1 failed") {
				t.Errorf(".ci/run %s: %v, for %q", test.step, err, test.last)
			}
			calls, _ := os.ReadFile(told)
			if n := strings.Count(string(calls), "\n"); n != test.told {
				t.Errorf("apt-get was called %d times, want %d:\n%s", n, test.told, calls)
			}
		})
	}
}
