package gcfacts_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childEnv names the child to run, in the environment of a test process that
// was started to be one.
const childEnv = "HAVEN_GCFACTS_CHILD"

// children are programs that may end in a crash of the runtime.
var children = map[string]func(){
	"past-the-end":       keepPastTheEnd,
	"garbage-word":       func() { storeOverWords(unusedAddress()) },
	"zero-word":          func() { storeOverWords(0) },
	"clear-numbers":      func() { clearAsWords(unusedAddress(), 0) },
	"clear-bad-pointers": func() { clearAsWords(0, unusedAddress()) },
	"finalizer-cycle":    finalizerInCycle,
	"cleanup-cycle":      cleanupInCycle,
	"weak-global":        weakGlobal,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild runs one of children with a GODEBUG setting and returns its output
// and whether it ended normally.
func runChild(t *testing.T, name, godebug string) (out string, ok bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GODEBUG=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, childEnv+"="+name, "GODEBUG="+godebug)
	b, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatalf("child %s: %v", name, err)
	}
	return string(b), err == nil
}

// wantBadPointer checks that a child died of an address in the heap that is no
// object's.
func wantBadPointer(t *testing.T, name string) {
	t.Helper()
	out, ok := runChild(t, name, "invalidptr=1")
	if ok || !strings.Contains(out, "found bad pointer in Go heap") {
		t.Errorf("child %s: ended normally %v; want the runtime to find a bad pointer:\n%.1500s", name, ok, out)
	}
}
