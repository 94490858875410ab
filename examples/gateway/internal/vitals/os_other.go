//go:build !linux && !darwin

package vitals

// fromOS leaves everything to what Go's runtime knows.
func fromOS(*Vitals) bool { return false }
