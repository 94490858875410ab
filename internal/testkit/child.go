package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// childVar names the test that a child process is to run.
const childVar = "HAVEN_TEST_CHILD"

// InChild reports whether this process was started by [Child] for the test t.
// Such a test does its work where InChild is true, and starts the child where
// it is not:
//
//	if testkit.InChild(t) {
//		work()
//		return
//	}
//	testkit.MustChild(t, "GODEBUG=clobberfree=1", "GOGC=1")
func InChild(t testing.TB) bool { return os.Getenv(childVar) == t.Name() }

// Child runs the test t alone in another process of the same test binary, with
// the variables of env added to the environment, and returns all it printed and
// how it ended. It passes -test.short on.
func Child(t testing.TB, env ...string) (output string, err error) {
	t.Helper()
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	args := []string{"-test.run=" + strings.Join(parts, "/"), "-test.v", "-test.timeout=5m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), env...), childVar+"="+t.Name())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// MustChild is [Child] that fails the test if the child does.
func MustChild(t testing.TB, env ...string) {
	t.Helper()
	out, err := Child(t, env...)
	if err != nil {
		t.Fatalf("child process with %v: %v\n%s", env, err, ends(out, 4<<10))
	}
	if !strings.Contains(out, "--- PASS: "+t.Name()) {
		t.Fatalf("child process with %v did not run the test:\n%s", env, ends(out, 4<<10))
	}
}

// ends returns the first and the last n bytes of s: a crash says why at the
// start of what it prints.
func ends(s string, n int) string {
	if len(s) <= 2*n {
		return s
	}
	return s[:n] + "\n…\n" + s[len(s)-n:]
}
