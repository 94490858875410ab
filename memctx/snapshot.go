package memctx

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A Snapshot is everything there is to show at one time: what reports, the debug
// page and metrics are made from. In JSON, durations are nanoseconds.
type Snapshot struct {
	Time     time.Time
	Contexts []Row // each parent before its children
	Names    []NameStats
	Caches   []slab.Stats    // those with a name
	Pools    []pool.Stats    // those with a name
	Leaks    []check.Finding // stale pointers among them
}

// A Row is a context in a [Snapshot].
type Row struct {
	Depth int // 0: a root
	Stats
	More      int // children that are not listed
	MoreBytes int // their bytes, with what is below them
}

// Bounds of a snapshot.
const (
	listChildren = 100   // of one context: those with most bytes
	listRows     = 10000 // in all
)

// TakeSnapshot lists what there is in the program. It lists the 100 children of a
// context, and the 100 roots, with most bytes, and at most 10,000 contexts; each
// row says how many of its children are not listed and what they have. Names
// counts all of them. It costs some hundred nanoseconds for each context there is.
// It may be called from any goroutine.
func TakeSnapshot() *Snapshot { return snapshotOf(nil, listChildren) }

// snapshotOf is TakeSnapshot of the contexts from c down, or of all.
func snapshotOf(c *Context, children int) *Snapshot {
	all := takeCensus(c)
	names := newTally()
	for i := range all.entries {
		e := &all.entries[i]
		e.c.watchAge(e.total.Bytes)
		names.add(e.c, e.own)
	}
	return &Snapshot{
		Time:     time.Now(),
		Contexts: all.rows(children),
		Names:    names.sorted(),
		Caches:   slices.AppendSeq([]slab.Stats{}, slab.Caches()),
		Pools:    slices.AppendSeq([]pool.Stats{}, pool.Pools()),
		Leaks:    leak.All(),
	}
}

// rows returns the contexts to list, at most so many children of each.
func (all *census) rows(children int) []Row {
	// The children of each entry, as lists through next.
	first, next := make([]int, len(all.entries)), make([]int, len(all.entries))
	var top []int
	for i := range first {
		first[i] = -1
		if all.entries[i].parent < 0 {
			top = append(top, i)
		}
	}
	for i := len(all.entries) - 1; i >= 0; i-- {
		if p := all.entries[i].parent; p >= 0 {
			next[i], first[p] = first[p], i
		}
	}

	rows := []Row{} // not null in JSON, as the other lists
	var labels []string
	type place struct{ at, parentRow, depth int }
	var stack []place
	push := func(list []int, row, depth int) {
		if len(list) > children {
			slices.SortStableFunc(list, func(a, b int) int {
				return cmp.Compare(all.entries[b].total.Bytes, all.entries[a].total.Bytes)
			})
			if row >= 0 {
				for _, i := range list[children:] {
					rows[row].hide(&all.entries[i])
				}
			}
			list = list[:children]
		}
		for _, i := range slices.Backward(list) {
			stack = append(stack, place{i, row, depth})
		}
	}
	if len(all.entries) > 0 { // it may be a part of a tree
		for p := all.entries[0].c.parent.Load(); p != nil; p = p.parent.Load() {
			labels = append(labels, p.label())
		}
		slices.Reverse(labels)
	}
	base := len(labels)
	push(top, -1, 0)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		e := &all.entries[p.at]
		if len(rows) >= listRows {
			if p.parentRow >= 0 {
				rows[p.parentRow].hide(e)
			}
			continue
		}
		labels = append(labels[:base+p.depth], e.c.label())
		rows = append(rows, Row{Depth: p.depth, Stats: e.stats(joinPath(labels))})
		var list []int
		for i := first[p.at]; i >= 0; i = next[i] {
			list = append(list, i)
		}
		push(list, len(rows)-1, p.depth+1)
	}
	return rows
}

// hide adds a child that is not listed.
func (r *Row) hide(e *entry) {
	r.More++
	r.MoreBytes += e.total.Bytes
}

// joinPath returns the path of labels, without the middle of a long one.
func joinPath(labels []string) string {
	if len(labels) <= pathHead+pathTail {
		return strings.Join(labels, "/")
	}
	return strings.Join(labels[:pathHead], "/") + "/…/" + strings.Join(labels[len(labels)-pathTail:], "/")
}
