//go:build !race

package magazine

import "unsafe"

// Race tells that the race detector is off.
const Race = false

// Release is for builds with the race detector.
func Release(unsafe.Pointer) {}

// Acquire is for builds with the race detector.
func Acquire(unsafe.Pointer) {}
