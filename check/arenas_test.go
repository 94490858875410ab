//go:build goexperiment.arenas && haven_check

package check_test

import (
	std "arena"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
)

// An experimentRecord is what is used after it was released.
type experimentRecord struct {
	next *experimentRecord
	n    [30]int
}

// Go's experiment with arenas unmaps the chunks that were filled, so a use after Free
// is a fault at once; the last chunk is used again by the next arena, and what happens
// then to a stale pointer is not found. Haven's check build finds a write in either
// case, when the memory leaves the quarantine or at Verify, and reads of pointers.
// Run it with GOEXPERIMENT=arenas go test -tags haven_check ./check.
func TestExperimentWithArenas(t *testing.T) {
	const few, many = 10, 100_000 // of some bytes of a chunk, and of several chunks
	for _, c := range []struct {
		name    string
		objects int
		haven   bool
		says    string // or nothing
	}{
		{"experiment, a full chunk", many, false, "accessed data from freed user arena"},
		{"experiment, the last chunk", few, false, ""},
		{"haven, a full chunk", many, true, "write after release: .n[5] of "},
		{"haven, the last chunk", few, true, "write after release: .n[5] of "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testkit.InChild(t) {
				if c.haven {
					havenStale(t, c.objects)
				} else {
					experimentStale(c.objects)
				}
				return
			}
			out, err := testkit.Child(t)
			if (err != nil) != (c.says != "") || !strings.Contains(out, c.says) {
				t.Errorf("want %q: %v\n%s", c.says, err, out)
			}
		})
	}
}

// experimentStale writes to the first object after Free.
func experimentStale(objects int) {
	// A collection under way would put the unmapping off.
	debug.SetGCPercent(-1)
	testkit.CollectGarbage()
	a := std.NewArena()
	first := std.New[experimentRecord](a)
	for range objects {
		std.New[experimentRecord](a).n[0] = 1
	}
	a.Free()
	first.n[5]++
	runtime.KeepAlive(first)
}

func havenStale(t *testing.T, objects int) {
	a := arena.NewArena()
	first := arena.New[experimentRecord](a)
	for range objects {
		arena.New[experimentRecord](a).n[0] = 1
	}
	a.Reset()
	first.n[5]++
	if err := check.Verify(); err != nil {
		t.Fatal(err)
	}
}
