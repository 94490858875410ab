package bench

import "syscall"

// peakRSS returns the high-water mark of the resident set in bytes, 0 when it
// is not known. On this system ru_maxrss counts bytes.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss
}
