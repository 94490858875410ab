package testkit

import "testing"

// Panic runs f and returns what it panicked with. It fails the test if f
// returns.
func Panic(t testing.TB, f func()) (v any) {
	t.Helper()
	defer func() {
		if v = recover(); v == nil {
			t.Error("no panic")
		}
	}()
	f()
	return nil
}

// PanicText runs f and fails the test unless it panics with exactly the string
// want.
func PanicText(t testing.TB, want string, f func()) {
	t.Helper()
	if got := Panic(t, f); got != any(want) {
		t.Errorf("panic\n got %v\nwant %v", got, want)
	}
}
