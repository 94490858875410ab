package testkit

import (
	"testing"
	"time"
)

// patience is how long Until and Receive wait: long enough for a machine that is
// busy with other things.
const patience = 20 * time.Second

// Until returns when ok reports true, and fails the test if that does not happen in
// twenty seconds; what says what was waited for. See [Eventually] for what takes
// garbage collections.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v went by until %s", patience, what)
		}
	}
}

// Receive returns what comes from a channel, and fails the test if nothing does in
// twenty seconds.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%v went by until %s", patience, what)
		panic("unreachable")
	}
}
