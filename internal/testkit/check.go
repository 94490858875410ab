package testkit

import (
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
)

// NeedsReuse skips a test in the check build, which poisons what was released and
// does not hand it out again at once, and where a sanitizer ends whoever looks at
// it: a test of which memory that is, or what it holds.
func NeedsReuse(t testing.TB) {
	t.Helper()
	if check.Enabled {
		t.Skip("this build poisons what was released, and keeps it in quarantine")
	}
	if sanitize.Poisons {
		t.Skip("a sanitizer reports whoever looks at what was released")
	}
}

// NeedsPacking skips a test of exactly where allocations lie, or of how many bytes
// they take, where a sanitizer has bytes in between.
func NeedsPacking(t testing.TB) {
	t.Helper()
	if sanitize.Poisons {
		t.Skip("a sanitizer has bytes between allocations")
	}
}
