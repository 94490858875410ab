package stale

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
)

// most is how many findings a list shows.
const most = 20

// List describes stale pointers, of many the first.
func List(list []leak.Finding) string {
	var b strings.Builder
	b.WriteString(account.Count(len(list), "stale pointer") + ":")
	for i, f := range list {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(list)-most)
			break
		}
		b.WriteString("\n" + f.String())
	}
	return b.String()
}

// Also returns what a line of statistics says of stale pointers in the end: nothing, if
// there are none.
func Also(n uint64) string {
	if n == 0 {
		return ""
	}
	return ", " + account.Count(n, "stale pointer")
}
