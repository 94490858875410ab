package escape

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/internal/leak"
)

// Text describes an escape in a line, and the stacks in those that follow.
func Text(f leak.Finding) string {
	what := f.What
	if f.Name != "" {
		what += fmt.Sprintf(" %q", f.Name)
	}
	text := fmt.Sprintf("%d × %s: %d bytes of %s in %d chunks are referred to after their release at\n%s",
		f.Count, what, f.Bytes, f.Type, f.Chunks, f.Released)
	if f.Stack != "" {
		text += "made at\n" + f.Stack
	}
	return text
}

// most is how many escapes a list shows.
const most = 20

// List describes escapes, of many the first.
func List(list []leak.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d escapes:", len(list))
	for i, f := range list {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(list)-most)
			break
		}
		b.WriteString("\n" + Text(f))
	}
	return b.String()
}

// Also returns what a line of statistics says of escapes in the end: nothing, if
// there are none.
func Also(n uint64) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 escape"
	}
	return fmt.Sprintf(", %d escapes", n)
}
