package testkit

import (
	"testing"

	"github.com/haven-mem/haven/internal/check"
)

// NeedsReuse skips a test in the check build, which poisons what was released, does
// not hand it out again at once, and has red zones in untyped memory: a test of which
// memory that is, what it holds, or how much of it there is.
func NeedsReuse(t testing.TB) {
	t.Helper()
	if check.Enabled {
		t.Skip("this build poisons what was released, and keeps it in quarantine")
	}
}
