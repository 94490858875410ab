package load

import (
	"fmt"
	"math"
	"strconv"
)

// format writes a value with its unit.
func (u Unit) format(v float64) string {
	switch u {
	case Nanoseconds:
		switch {
		case v >= 1e9:
			return number(v/1e9) + " s"
		case v >= 1e6:
			return number(v/1e6) + " ms"
		case v >= 1e3:
			return number(v/1e3) + " µs"
		}
		return number(v) + " ns"
	case Bytes:
		return number(v/1e6) + " MB"
	}
	return thousands(v)
}

// formatSpread writes the median, and the range if there is one.
func (u Unit) formatSpread(s Spread) string {
	if s.Min == s.Max {
		return u.format(s.Median)
	}
	return fmt.Sprintf("%s [%s–%s]", u.format(s.Median), u.format(s.Min), u.format(s.Max))
}

// formatRatio writes how many times a value is another one's, "" for no ratio.
func formatRatio(s Spread) string {
	switch {
	case s == Spread{}:
		return ""
	case s.Min == s.Max:
		return number(s.Median) + "×"
	}
	return fmt.Sprintf("%s× [%s–%s]", number(s.Median), number(s.Min), number(s.Max))
}

// number writes v with three digits that matter: 0, 0.0123, 1.23, 12.3, 123, 12345.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := max(2-int(math.Floor(math.Log10(math.Abs(v)))), 0)
	return strconv.FormatFloat(v, 'f', min(decimals, 6), 64)
}

// thousands writes v without decimals, in groups of three digits.
func thousands(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
