package memctx

// A census is a list of all contexts of a tree, or of all trees, with their use
// at the time: what statistics and reports are made from. It costs time and
// memory for each context, and nothing for what is allocated in them.
type census struct{ entries []entry }

// An entry is a context in a census, each parent before its children.
type entry struct {
	c        *Context
	parent   int // its place; -1: none
	depth    int
	children int
	contexts int // in the subtree
	own      Usage
	total    Usage
}

// takeCensus lists c and all below it, or everything if c is nil.
func takeCensus(c *Context) *census {
	all := new(census)
	if c != nil {
		all.add(c)
		return all
	}
	for r := range Roots() {
		all.add(r)
	}
	return all
}

func (all *census) add(root *Context) {
	start := len(all.entries)
	places := []int{} // of the contexts on the way to the present one, by depth
	root.Walk(func(c *Context, depth int) bool {
		e := entry{c: c, parent: -1, depth: depth, own: c.ledger.own(), contexts: 1}
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
		if e.c.ledger.isBound {
			e.total.HighWater = max(int(e.c.ledger.totalPeak.Load()), e.total.Bytes)
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

// own returns the use of the context's own arena.
func (x *ledger) own() Usage {
	u := Usage{Bytes: int(x.bytes.Load()), Chunks: int(x.chunks.Load())}
	u.HighWater = max(int(x.peak.Load()), u.Bytes)
	return u
}
