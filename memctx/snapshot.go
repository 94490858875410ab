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

// A Row is a context in a [Snapshot], or a group: many children of one context, or
// roots, that have one name. Those of them that are listed come below the group,
// the one with most bytes first. A group has a Name, a Path, an Age, which is that of
// the oldest, and sums: Total, Contexts and, for those below it, Children.
type Row struct {
	Depth int // 0: a root, or a group of roots
	Stats
	Siblings  int // in the group; 0: this is a context
	More      int // children that are not listed
	MoreBytes int // their bytes, with what is below them
}

// Bounds of a snapshot.
const (
	listChildren = 100   // of one context or group: those with most bytes
	listRows     = 10000 // in all
	loneSiblings = 8     // so many of one name are no group, if there is room for all
)

// TakeSnapshot lists what there is in the program. More than 8 siblings of one name
// are a group; where the names would otherwise not fit, 2 are. It lists the 100 rows
// with most bytes below each context or group, and of the roots, and at most 10,000 in
// all, for which contexts in groups make room; each
// row says how many of its children are not listed and what they have. Names
// counts all of them. It costs some hundred nanoseconds for each context there is.
// It may be called from any goroutine.
func TakeSnapshot() *Snapshot { return snapshotOf(ref{}, listChildren) }

// snapshotOf is TakeSnapshot of the contexts from c down, or of all.
func snapshotOf(c ref, children int) *Snapshot {
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

// rows returns what to list, at most so many children of each. If that is too much,
// contexts in groups get the room that is left by the others, so that a large group
// does not hide what stands beside it.
func (all *census) rows(children int) []Row {
	w := newWriter(all, children)
	if w.list(listRows); w.full {
		w.list(0)
		w.list(listRows - len(w.rows))
	}
	return w.rows
}

// A writer makes the rows of a census.
type writer struct {
	all         *census
	children    int   // most rows below one
	top         []int // the entries without a parent
	first, next []int // the children of each entry, as lists through next; -1: the end
	rows        []Row
	stack       []place // what is to be listed, the next one last
	full        bool    // there was no room for some of it
}

// A place is where an entry, or a group of them, will be in the list.
type place struct {
	entries []int
	isGroup bool
	inGroup bool // below one, at any depth
	up      int  // the row above; -1: none
	bytes   int
}

func newWriter(all *census, children int) *writer {
	w := &writer{all: all, children: children, first: make([]int, len(all.entries)), next: make([]int, len(all.entries))}
	for i := len(all.entries) - 1; i >= 0; i-- {
		w.first[i] = -1
	}
	for i := len(all.entries) - 1; i >= 0; i-- {
		if p := all.entries[i].parent; p >= 0 {
			w.next[i], w.first[p] = w.first[p], i
		} else {
			w.top = append(w.top, i)
		}
	}
	slices.Reverse(w.top)
	return w
}

// list makes the rows anew, with room for so many that are in groups.
func (w *writer) list(room int) {
	w.rows, w.full = []Row{}, false // not null in JSON, as the other lists
	var labels []string
	if len(w.all.entries) > 0 { // it may be a part of a tree
		for _, p := w.all.entries[0].c.look(); p.node != nil; _, p = p.look() {
			labels = append(labels, p.label())
		}
		slices.Reverse(labels)
	}
	base := len(labels)
	w.push(w.grouped(w.top, -1, false))
	for len(w.stack) > 0 {
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if len(w.rows) >= listRows || p.inGroup && room == 0 {
			w.full = true
			w.hide(p)
			continue
		}
		if p.inGroup {
			room--
		}
		row, at := Row{}, len(w.rows)
		if p.up >= 0 {
			row.Depth = w.rows[p.up].Depth + 1
		}
		e := &w.all.entries[p.entries[0]]
		labels = labels[:base+e.depth]
		if p.isGroup {
			row.Siblings, row.Stats = len(p.entries), w.sum(p.entries, joinPath(append(labels, e.c.kind.name)))
		} else {
			labels = append(labels, e.c.label())
			row.Stats = e.stats(joinPath(labels))
		}
		w.rows = append(w.rows, row)
		if p.isGroup {
			w.push(w.single(p.entries, at))
			continue
		}
		var below []int
		for i := w.first[p.entries[0]]; i >= 0; i = w.next[i] {
			below = append(below, i)
		}
		w.push(w.grouped(below, at, p.inGroup))
	}
}

// sum returns the numbers of a group.
func (w *writer) sum(entries []int, path string) Stats {
	oldest := w.all.entries[entries[0]].c
	s := Stats{Name: oldest.kind.name, Path: path, Children: len(entries), Created: oldest.created.Wall()}
	for _, i := range entries {
		e := &w.all.entries[i]
		s.Total.Bytes += e.total.Bytes
		s.Total.Chunks += e.total.Chunks
		s.Total.HighWater += e.total.HighWater
		s.Contexts += e.contexts
		if made := e.created.Wall(); made.Before(s.Created) {
			oldest, s.Created = e.c, made
		}
	}
	s.Age = oldest.created.Age()
	return s
}

// grouped returns the places of siblings, in their order, with a group at that of its
// first.
func (w *writer) grouped(siblings []int, up int, inGroup bool) []place {
	few := loneSiblings
	if len(siblings) > w.children {
		few = 1
	}
	of := make(map[*kind][]int)
	if len(siblings) > few {
		for _, i := range siblings {
			k := w.all.entries[i].c.kind
			of[k] = append(of[k], i)
		}
	}
	var places []place
	for n, i := range siblings {
		switch group := of[w.all.entries[i].c.kind]; {
		case len(group) <= few:
			places = append(places, w.place(siblings[n:n+1], up, inGroup))
		case group[0] == i:
			p := w.place(group, up, inGroup)
			p.isGroup = true
			places = append(places, p)
		}
	}
	if len(places) > w.children {
		sortPlaces(places)
	}
	return places
}

// single returns the places of what is in a group, the largest first.
func (w *writer) single(entries []int, up int) []place {
	places := make([]place, len(entries))
	for n := range entries {
		places[n] = w.place(entries[n:n+1], up, true)
	}
	sortPlaces(places)
	return places
}

func (w *writer) place(entries []int, up int, inGroup bool) place {
	p := place{entries: entries, up: up, inGroup: inGroup}
	for _, i := range entries {
		p.bytes += w.all.entries[i].total.Bytes
	}
	return p
}

func sortPlaces(places []place) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.bytes, a.bytes) })
}

// push has places listed, as many as may be below one row.
func (w *writer) push(places []place) {
	n := min(len(places), w.children)
	for _, p := range places[n:] {
		w.hide(p)
	}
	slices.Reverse(places[:n])
	w.stack = append(w.stack, places[:n]...)
}

// hide counts what is not listed.
func (w *writer) hide(p place) {
	if p.up >= 0 {
		w.rows[p.up].More += len(p.entries)
		w.rows[p.up].MoreBytes += p.bytes
	}
}

// joinPath returns the path of labels, without the middle of a long one.
func joinPath(labels []string) string {
	if len(labels) <= pathHead+pathTail {
		return strings.Join(labels, "/")
	}
	return strings.Join(labels[:pathHead], "/") + "/…/" + strings.Join(labels[len(labels)-pathTail:], "/")
}
