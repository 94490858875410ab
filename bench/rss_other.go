//go:build !linux && !darwin

package bench

// peakRSS returns 0: this system does not tell the high-water mark of the
// resident set in a way that the standard library reaches.
func peakRSS() int64 { return 0 }
