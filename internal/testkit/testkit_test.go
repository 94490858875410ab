package testkit_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
)

// The kit must see what lives and what does not, or tests that use it prove
// nothing.
func TestCensus(t *testing.T) {
	var c testkit.Census
	kept := testkit.Enroll(&c, new([4]*byte))
	testkit.Enroll(&c, new([4]*byte))
	testkit.CollectGarbage()
	if c.Len() != 2 || c.Alive() != 1 {
		t.Errorf("%d enrolled, %d alive, want 2 and 1", c.Len(), c.Alive())
	}
	runtime.KeepAlive(kept)
	testkit.CollectGarbage()
	if c.Alive() != 0 {
		t.Errorf("%d alive, want 0", c.Alive())
	}
}

func TestChild(t *testing.T) {
	if testkit.InChild(t) {
		if os.Getenv("HAVEN_TEST_WANT") == "crash" {
			panic("as told")
		}
		return
	}
	testkit.MustChild(t)
	out, err := testkit.Child(t, "HAVEN_TEST_WANT=crash")
	if err == nil || !strings.Contains(out, "panic: as told") {
		t.Errorf("child that panics: error %v, output %q", err, out)
	}
}

func TestHammer(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stop := testkit.Hammer()
	for after.NumGC < before.NumGC+3 {
		runtime.ReadMemStats(&after)
	}
	stop()
}
