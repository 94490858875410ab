package top

import (
	"math"
	"strconv"
	"time"
)

// integer is what the figures of the page are.
type integer interface{ int | int64 | uint64 }

// formatBytes writes a number of bytes with at most four digits, those that the
// debug page shows: 0, 17, 1.0K, 12.3K, 456K, 1023M.
func formatBytes[N integer](n N) string {
	if n < 1024 {
		return formatCount(n)
	}
	u, unit, name := uint64(n), uint64(1024), 0
	for u/unit >= 1024 || tenths(u, unit) >= 10240 {
		unit *= 1024
		name++
	}
	t := tenths(u, unit)
	if t >= 1000 { // 100 and more
		return strconv.FormatUint((t+5)/10, 10) + "KMGTPE"[name:name+1]
	}
	return strconv.FormatUint(t/10, 10) + "." + strconv.FormatUint(t%10, 10) + "KMGTPE"[name:name+1]
}

// tenths returns how many tenths of a unit n is, rounded.
func tenths(n, unit uint64) uint64 {
	return n/unit*10 + (n%unit*10+unit/2)/unit
}

// formatCount writes a number of things, exactly.
func formatCount[N integer](n N) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

// formatBound writes a bound of bytes, where 0 means that there is none.
func formatBound[N integer](n N) string {
	if n == 0 {
		return "-"
	}
	return formatBytes(n)
}

// formatMost writes a bound of things, where 0 means that there is none.
func formatMost(n int) string {
	if n == 0 {
		return "-"
	}
	return formatCount(n)
}

// formatAge writes a time in at most six characters, rounded down: 0.3s, 17s,
// 5m07s, 3h12m, 4d07h, 1234d.
func formatAge(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 10:
		return strconv.FormatInt(s, 10) + "." + strconv.FormatInt(int64(max(d, 0)%time.Second/(100*time.Millisecond)), 10) + "s"
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 3600:
		return strconv.FormatInt(s/60, 10) + "m" + twoDigits(s%60) + "s"
	case s < 24*3600:
		return strconv.FormatInt(s/3600, 10) + "h" + twoDigits(s/60%60) + "m"
	case s < 100*24*3600:
		return strconv.FormatInt(s/(24*3600), 10) + "d" + twoDigits(s/3600%24) + "h"
	default:
		return strconv.FormatInt(s/(24*3600), 10) + "d"
	}
}

func twoDigits(n int64) string {
	return string([]byte{'0' + byte(n/10), '0' + byte(n%10)})
}

// formatShare writes part of whole in percent, rounded down so that 100% means
// all of it, or "-" if there is no whole.
func formatShare[N integer](part, whole N) string {
	if whole <= 0 {
		return "-"
	}
	return strconv.FormatFloat(math.Floor(float64(part)/float64(whole)*100), 'f', 0, 64) + "%"
}

// formatFraction writes a fraction in percent with one decimal, rounded down.
func formatFraction(f float64) string {
	return strconv.FormatFloat(math.Floor(f*1000)/10, 'f', 1, 64) + "%"
}
