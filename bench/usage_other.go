//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package bench

import "time"

// cpuTime returns the CPU time this process has used, and whether the system
// can tell.
func cpuTime() (time.Duration, bool) { return 0, false }
