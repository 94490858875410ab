//go:build haven_check

package check

// Enabled is true in the check build.
const Enabled = true

// Zone is the size in bytes of a red zone. There is one before each allocation in
// untyped memory and one right behind the bytes that were asked for, wherever
// alignment would put the next allocation.
const Zone = 8

// An Only is a T in the check build, and nothing in the others, so that what belongs to
// the check build needs no stubs: code behind if Enabled is compiled in each.
type Only[T any] struct{ t T }

// Get returns the T.
func (o *Only[T]) Get() *T { return &o.t }
