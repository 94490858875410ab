//go:build race

package magazine

import (
	"runtime"
	"unsafe"
)

// Race tells that the race detector is on: call Release and Acquire. (They are
// not empty functions instead, because the compiler does not inline those into
// generic code of other packages.)
const Race = true

// Release tells the race detector that p is given away: what its user did to it
// happens before the Acquire of its next user.
func Release(p unsafe.Pointer) { runtime.RaceReleaseMerge(p) }

// Acquire tells the race detector that p is taken over.
func Acquire(p unsafe.Pointer) { runtime.RaceAcquire(p) }
