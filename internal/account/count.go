package account

import (
	"fmt"
	"strings"
)

// Count returns a number of things as text: 1 chunk, 2 chunks.
func Count[N int | int64 | uint64 | uintptr](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Title returns a kind of owner and its name as messages show them.
func Title(kind, name string) string {
	if name == "" {
		return "a " + kind + " without a name"
	}
	return fmt.Sprintf("%s %q", kind, name)
}
