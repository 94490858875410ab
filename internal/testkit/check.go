package testkit

import (
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/guard"
)

// NeedsReuse skips a test in the check build, which poisons what was released and
// does not hand it out again at once: a test of which memory that is, or what it
// holds.
func NeedsReuse(t testing.TB) {
	t.Helper()
	if check.Enabled {
		t.Skip("this build poisons what was released, and keeps it in quarantine")
	}
	if guard.Each() {
		t.Skip("the guard holds what was released")
	}
}
