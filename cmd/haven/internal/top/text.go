package top

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// quoted returns a name as it may be sent to a terminal: as it is, or as a Go
// string literal if it has what a terminal acts upon or does not show, such as
// escape sequences and marks that turn the direction of text. A name that looks
// like a literal is quoted too, so that it cannot pass for another.
func quoted(name string) string {
	if name == "" || name[0] == '"' || !shown(name) {
		return strconv.Quote(name)
	}
	return name
}

// shown reports whether all of s appears on a terminal as it is.
func shown(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

// printable is quoted for sentences: only what would not be shown is escaped.
func printable(text string) string {
	if shown(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// cells returns how many cells of a terminal s takes. Terminals disagree about
// characters that are drawn together with their neighbours; a line that comes out
// wrong is cut off at the edge by the terminal and spoils no other.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit returns s in at most n cells, with "…" in place of the middle if it is
// longer. What tells paths apart is mostly at the end, so that gets more room.
func fit(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	head := cutEnd(s, (n-1)/3)
	return head + "…" + cutStart(s, n-1-cells(head))
}

// cutEnd returns the most of the start of s that fits n cells.
func cutEnd(s string, n int) string {
	for i, r := range s {
		if n -= runeCells(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// cutStart returns the most of the end of s that fits n cells. It never begins
// with a mark that belongs on the character before.
func cutStart(s string, n int) string {
	start := len(s)
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		w := runeCells(r)
		if n -= w; n < 0 {
			break
		}
		if w > 0 {
			start = i
		}
	}
	return s[start:]
}

// padLeft and padRight fill s up to n cells.
func padLeft(s string, n int) string  { return strings.Repeat(" ", max(n-cells(s), 0)) + s }
func padRight(s string, n int) string { return s + strings.Repeat(" ", max(n-cells(s), 0)) }
