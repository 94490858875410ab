package testkit

import (
	"os"
	"testing"

	"github.com/haven-mem/haven/internal/guard"
)

// Guard turns the sampled guard on for a test, as guard.Set does. It skips the test
// where the environment says what is guarded.
func Guard(t testing.TB, rate, slots int) {
	t.Helper()
	if os.Getenv(guard.Variable) != "" {
		t.Skip("the environment says what is guarded")
	}
	if err := guard.Set(rate, slots); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { guard.Set(0, 0) })
}

// Unguarded skips a test of what becomes of memory that was released, where the guard
// takes all of it.
func Unguarded(t testing.TB) {
	t.Helper()
	if guard.Each() {
		t.Skip("the guard holds what was released")
	}
}
