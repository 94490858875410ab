package testkit

import (
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
)

// NeedsReuse skips a test in the check build, which poisons what was released, does
// not hand it out again at once, and has red zones in untyped memory, and where a
// sanitizer ends whoever looks at what was released: a test of which memory that is,
// what it holds, or how much of it there is.
func NeedsReuse(t testing.TB) {
	t.Helper()
	if check.Enabled {
		t.Skip("this build poisons what was released, and keeps it in quarantine")
	}
	if sanitize.Poisons {
		t.Skip("a sanitizer reports whoever looks at what was released")
	}
	Unguarded(t)
}

// NeedsPacking skips a test of exactly where allocations of untyped memory lie, or of
// how many bytes they take, where there are bytes in between: red zones in the check
// build, and those of a sanitizer.
func NeedsPacking(t testing.TB) {
	t.Helper()
	if check.Enabled {
		t.Skip("this build has red zones between allocations")
	}
	if sanitize.Poisons {
		t.Skip("a sanitizer has bytes between allocations")
	}
}
