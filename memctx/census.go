package memctx

import "github.com/haven-mem/haven/internal/clock"

// A census is a list of all contexts of a tree, or of all trees, with their use
// at the time: what statistics and reports are made from. It costs time and
// memory for each context, and nothing for what is allocated in them.
type census struct{ entries []entry }

// An entry is a context in a census, each parent before its children.
type entry struct {
	c        ref
	parent   int // its place; -1: none
	depth    int
	children int
	contexts int // in the subtree
	own      Usage
	peak     int // most bytes in the subtree, -1: not known
	created  clock.Time
	total    Usage
}

// takeCensus lists c and all below it, or everything if c is zero.
func takeCensus(c ref) *census {
	all := new(census)
	if c.node != nil {
		all.add(c)
		return all
	}
	for r := range rootRefs() {
		all.add(r)
	}
	return all
}

func (all *census) add(root ref) {
	start := len(all.entries)
	places := []int{} // of the contexts on the way to the present one, by depth
	root.walk(func(c ref, depth int) bool {
		e := entry{c: c, parent: -1, depth: depth, contexts: 1}
		e.own, e.peak, e.created = c.own()
		if depth > 0 {
			e.parent = places[depth-1]
			all.entries[e.parent].children++
		}
		e.total = e.own
		places = append(places[:depth], len(all.entries))
		all.entries = append(all.entries, e)
		return true
	})
	for i := len(all.entries) - 1; i >= start; i-- {
		e := &all.entries[i]
		if e.peak >= 0 {
			e.total.HighWater = max(e.peak, e.total.Bytes)
		}
		if e.parent >= 0 {
			p := &all.entries[e.parent]
			p.contexts += e.contexts
			p.total.Bytes += e.total.Bytes
			p.total.Chunks += e.total.Chunks
			p.total.HighWater += e.total.HighWater
		}
	}
}

// own returns the use of the context's own arena, the most of the subtree, or -1 if
// nothing counts that, and when the context was made.
func (c ref) own() (own Usage, peak int, created clock.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holds() {
		return own, -1, clock.Now()
	}
	x := &c.ledger
	x.acct.Lock()
	defer x.acct.Unlock()
	if !x.isBound {
		return x.own, -1, c.created
	}
	return x.own, x.totalPeak, c.created
}
