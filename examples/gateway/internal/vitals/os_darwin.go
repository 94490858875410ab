package vitals

import (
	"syscall"
	"time"
)

// fromOS sets what the system knows. What is in physical memory now is not to be
// had without cgo; the peak stands for it.
func fromOS(v *Vitals) bool {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return false
	}
	v.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	v.RSS, v.PeakRSS = u.Maxrss, u.Maxrss // bytes on this system
	return true
}
