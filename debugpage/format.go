package debugpage

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// static/format.js has the same functions. They compute with integers, or in the
// same order with floats, so that both give the same text for every value.

// formatBytes returns a number of bytes in binary units with at most four digits.
func formatBytes(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + " B"
	}
	unit := uint64(1024)
	i := 0
	const units = "KMGTPE"
	for rounded(n, unit) >= 1024 {
		unit *= 1024
		i++
	}
	t := tenths(n, unit)
	if t >= 1000 { // 100 and more
		return strconv.FormatUint(rounded(n, unit), 10) + " " + units[i:i+1] + "iB"
	}
	return strconv.FormatUint(t/10, 10) + "." + strconv.FormatUint(t%10, 10) + " " + units[i:i+1] + "iB"
}

// rounded returns how many units n is.
func rounded(n, unit uint64) uint64 {
	return n/unit + (n%unit+unit/2)/unit
}

// tenths returns how many tenths of a unit n is, rounded.
func tenths(n, unit uint64) uint64 {
	return n/unit*10 + (n%unit*10+unit/2)/unit
}

// formatCount returns a number with its thousands set apart.
func formatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "−", s[1:]
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// formatShare returns part of whole in percent, rounded down so that 100 % means
// all of it, or a dash if there is no whole.
func formatShare(part, whole float64) string {
	if !(whole > 0) {
		return "–"
	}
	t := int(math.Floor(part / whole * 1000))
	return fmt.Sprintf("%d.%d %%", t/10, t%10)
}

// formatDuration returns a duration in its two largest units.
func formatDuration(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d/time.Microsecond)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
}
