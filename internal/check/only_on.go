//go:build haven_check

package check

// Enabled is true in the check build.
const Enabled = true

// An Only is a T in the check build, and nothing in the others, so that what belongs to
// the check build needs no stubs: code behind if Enabled is compiled in each.
type Only[T any] struct{ t T }

// Get returns the T.
func (o *Only[T]) Get() *T { return &o.t }
