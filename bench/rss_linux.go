package bench

import (
	"bytes"
	"os"
	"strconv"
)

// peakRSS returns the high-water mark of the resident set in bytes, 0 when it
// is not known. It reads VmHWM and not getrusage, whose ru_maxrss a process
// inherits from the one that started it.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return parseVmHWM(status)
}

// parseVmHWM finds the line "VmHWM:   1234 kB" of a /proc/*/status file and
// returns its value in bytes, 0 when there is none.
func parseVmHWM(status []byte) int64 {
	for line := range bytes.Lines(status) {
		rest, ok := bytes.CutPrefix(line, []byte("VmHWM:"))
		if !ok {
			continue
		}
		rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(" kB"))
		kb, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
		if !ok || err != nil {
			return 0
		}
		return kb << 10
	}
	return 0
}
