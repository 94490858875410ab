package memctx_test

import (
	"slices"

	"github.com/haven-mem/haven/memctx"
)

// check compares everything.
func (m *treeModel) check() {
	given := make([]*memctx.Context, len(m.nodes))
	for i, n := range m.nodes {
		given[i] = n.mc
	}
	if err := memctx.Check(given...); err != nil {
		m.failf("%v", err)
	}
	totals := m.totals()
	for i, n := range m.nodes {
		if got := memctx.StateOf(n.mc); got != n.state {
			m.failf("node %d is %s, want %s", i, got, n.state)
		}
		if got := memctx.Taken(n.mc); got != totals[n] {
			m.failf("node %d counts %d bytes, want %d", i, got, totals[n])
		}
		for _, th := range n.things {
			if !th.ok() {
				m.failf("node %d does not hold what was stored", i)
			}
		}
	}
	for _, th := range m.kept {
		if !th.ok() {
			m.failf("what should stay for ever changed")
		}
	}
}

// checkShown compares what programs and people see.
func (m *treeModel) checkShown() {
	at := map[*memctx.Context]*node{}
	created, live, deleted, abandoned := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	roots := map[*memctx.Context]bool{}
	for i, n := range m.nodes {
		at[n.mc] = n
		created[n.name]++
		switch {
		case n.forsaken:
			abandoned[n.name]++
		case n.state == "gone":
			deleted[n.name]++
		default:
			live[n.name]++
			if n.parent == nil {
				roots[n.mc] = true
			}
		}
		below := n.below()
		bytes, own := n.own(), n.own()
		for _, x := range below {
			bytes += x.own()
		}
		s := n.mc.Stats()
		want := memctx.Stats{
			Name: n.name, Ident: n.ident, Path: n.path(), Own: memctx.Usage{Bytes: own}, Total: memctx.Usage{Bytes: bytes},
			Limit: n.limit, Reserve: n.reserve, Children: len(n.children), Contexts: len(below) + 1,
			Leases: n.leases, Resets: n.resets, Deleted: n.state == "ended", Created: s.Created, Age: s.Age,
		}
		if memctx.Replaced(n.mc) {
			want = memctx.Stats{Name: n.name, Path: n.name, Contexts: 1, Created: s.Created, Age: s.Age}
		}
		if s.Own.HighWater < own || s.Total.HighWater < bytes {
			m.failf("node %d with a peak below what there is: %+v", i, s)
		}
		s.Own.Chunks, s.Own.HighWater, s.Total.Chunks, s.Total.HighWater = 0, 0, 0, 0
		if s != want {
			m.failf("node %d\n got %+v\nwant %+v", i, s, want)
		}
		if p := n.mc.Parent(); !memctx.Replaced(n.mc) && at[p] != n.parent && n.parent.mc != p {
			m.failf("node %d has the parent %v, want %v", i, p.Path(), n.parent.path())
		}
		var walked []*memctx.Context
		n.mc.Walk(func(c *memctx.Context, depth int) bool {
			walked = append(walked, c)
			return true
		})
		slices.Reverse(walked)
		for k, x := range append(below, n) {
			if k >= len(walked) || walked[k] != x.mc {
				m.failf("Walk of node %d is not what the model has", i)
			}
		}
	}
	for c := range memctx.Roots() {
		if at[c] != nil && !roots[c] {
			m.failf("%s is among the roots, or twice", c.Path())
		}
		delete(roots, c)
	}
	if len(roots) > 0 {
		m.failf("%d roots are not listed", len(roots))
	}
	for s := range memctx.Names() {
		if b := m.base[s.Name]; slices.Contains(m.names, s.Name) &&
			(int(s.Created-b.Created) != created[s.Name] || int(s.Deleted-b.Deleted) != deleted[s.Name] ||
				int(s.Abandoned-b.Abandoned) != abandoned[s.Name] || s.Live-b.Live != live[s.Name] || s.Dropped != b.Dropped) {
			m.failf("%v\nbefore %v\nwant %d created, %d deleted, %d abandoned, %d live",
				s, b, created[s.Name], deleted[s.Name], abandoned[s.Name], live[s.Name])
		}
	}
}
