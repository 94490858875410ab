package memctx

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haven-mem/haven/internal/account"
)

// ReportOptions say what [WriteReport] writes. The zero value is a report of
// everything.
type ReportOptions struct {
	Of       *Context // and what is below it; nil: all roots
	Children int      // most children listed of one context or group; 0: 100
	Ranked   int      // rows of the ranking; 0: 20
	JSON     bool     // a Snapshot as JSON instead of text
}

// WriteReport writes what leaked, then what contexts there are: as a tree, with groups
// as [TakeSnapshot] makes them, ranked by bytes, and by name, then caches and pools, each
// where there is one. It returns an error if an option is negative, and the writer's. It
// may be called from any goroutine, also while the program is at work.
//
// The form is that of Postgres' MemoryContextStats.
func WriteReport(w io.Writer, o ReportOptions) error {
	if o.Children < 0 || o.Ranked < 0 {
		return fmt.Errorf("memctx: WriteReport with Children %d and Ranked %d: want 0 or more", o.Children, o.Ranked)
	}
	s := snapshotOf(o.Of.ref(), cmp.Or(o.Children, listChildren))
	if o.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	_, err := io.WriteString(w, s.text(cmp.Or(o.Ranked, 20)))
	return err
}

// text returns the report that people read.
func (s *Snapshot) text(ranked int) string {
	var b strings.Builder
	leaks := slices.Clone(s.Leaks)
	for i := range leaks {
		leaks[i].Name, leaks[i].Path = quote(leaks[i].Name), quote(leaks[i].Path)
	}
	section(&b, "leaks", leaks)
	fmt.Fprintf(&b, "\nmemory contexts at %s\n", s.Time.Format(time.RFC3339))
	total, n := Usage{}, 0
	for i := range s.Names {
		total.Bytes += s.Names[i].Bytes
		total.Chunks += s.Names[i].Chunks
		n += s.Names[i].Live
	}
	more, moreBytes := n, total.Bytes
	var open []*Row // the way to the present one
	leave := func(depth int) {
		for k := len(open) - 1; k >= 0 && open[k].Depth >= depth; k-- {
			if r := open[k]; r.More > 0 {
				fmt.Fprintf(&b, "%s%d more with %s\n", indent(r.Depth+1), r.More, account.Count(r.MoreBytes, "byte"))
			}
			open = open[:k]
		}
	}
	for i := range s.Contexts {
		r := &s.Contexts[i]
		leave(r.Depth)
		open = append(open, r)
		if r.Depth == 0 {
			more -= r.Contexts
			moreBytes -= r.Total.Bytes
		}
		line := r.Stats
		line.Path = quote(label(r.Name, r.Ident))
		if r.Siblings > 0 {
			fmt.Fprintf(&b, "%s%s ×%d: %s in %s, %v old\n", indent(r.Depth), line.Path, r.Siblings,
				account.Count(r.Total.Bytes, "byte"), account.Count(r.Total.Chunks, "chunk"), r.Age.Round(time.Millisecond))
			continue
		}
		fmt.Fprintf(&b, "%s%v\n", indent(r.Depth), line)
	}
	leave(0)
	if more > 0 {
		fmt.Fprintf(&b, "%d more with %s of roots not listed\n", more, account.Count(moreBytes, "byte"))
	}
	fmt.Fprintf(&b, "in all: %s in %s of %s\n", account.Count(total.Bytes, "byte"), account.Count(total.Chunks, "chunk"), account.Count(n, "context"))

	b.WriteString("\nby bytes\n")
	rows := slices.DeleteFunc(slices.Clone(s.Contexts), func(r Row) bool { return r.Siblings > 0 })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Own.Bytes, a.Own.Bytes) })
	for _, r := range rows[:min(ranked, len(rows))] {
		fmt.Fprintf(&b, "%12d %s\n", r.Own.Bytes, quote(r.Path))
	}

	b.WriteString("\nby name\n")
	names := slices.Clone(s.Names)
	slices.SortStableFunc(names, func(a, b NameStats) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, n := range names {
		n.Name = quote(n.Name)
		fmt.Fprintf(&b, "%v\n", n)
	}
	section(&b, "caches", s.Caches)
	section(&b, "pools", s.Pools)
	return b.String()[1:] // without the blank line of the first section
}

// indent returns the space in front of a row, which does not grow for ever.
func indent(depth int) string { return strings.Repeat("  ", min(depth, 32)) }

func section[T any](b *strings.Builder, title string, list []T) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, s := range list {
		fmt.Fprintf(b, "%v\n", s)
	}
}

// quote keeps a name from doing what it likes to a terminal.
func quote(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return fmt.Sprintf("%q", s)
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
