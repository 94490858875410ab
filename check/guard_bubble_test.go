//go:build go1.25 && !haven_check && !asan && !msan && (linux || darwin)

package check_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A guard and a monitor that are first turned on in a bubble of testing/synctest do not keep
// it from ending, and find what happens afterwards.
func TestGuardFirstInBubble(t *testing.T) {
	if !testkit.InChild(t) {
		out, err := testkit.Child(t, "HAVEN_GUARD=0", "HAVEN_STALE=0")
		if err == nil || !strings.Contains(out, "\nhaven: use after release") || !strings.Contains(out, "guard_bubble_test.go") {
			t.Errorf("ended with %v, and printed\n%s", err, out)
		}
		return
	}
	synctest.Test(t, func(t *testing.T) {
		if err := check.MonitorGuard(); err != nil {
			t.Fatal(err)
		}
		if err := check.SetGuard(1, 8); err != nil {
			t.Fatal(err)
		}
	})
	c := slab.NewCache[order]()
	p := c.Alloc()
	c.Free(p)
	sink = p.id
}
