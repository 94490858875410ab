package vitals

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// fromOS sets what the system knows. The peak is VmHWM and not that of getrusage,
// which a process inherits from the one that started it.
func fromOS(v *Vitals) bool {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return false
	}
	v.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	v.RSS = kilobytes(status, "VmRSS:")
	v.PeakRSS = kilobytes(status, "VmHWM:")
	return v.RSS > 0 && v.PeakRSS > 0
}

// kilobytes finds a line like "VmRSS:   1234 kB" and returns its value in bytes, 0
// if there is none.
func kilobytes(status []byte, key string) int64 {
	for line := range bytes.Lines(status) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == key && string(f[2]) == "kB" {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n << 10
		}
	}
	return 0
}
