package soak_test

import (
	"slices"
	"strconv"

	"github.com/haven-mem/haven/memctx"
)

// inspect compares what a context says of itself with the model.
func (a *actor) inspect(n *twin) {
	have := n.mc.Arena().Stats().Reserved // and it has an arena from here on
	st := n.mc.Stats()
	if st.Name != n.name || st.Ident != strconv.FormatUint(n.id, 10) || st.Limit != n.limit || st.Reserve != n.reserve || st.Deleted && !a.leased {
		a.fail("%s is %+v, want limit %d, reserve %d", n.path(), st, n.limit, n.reserve)
	}
	if n.parent != nil && n.mc.Parent() != n.parent.mc {
		a.fail("%s has parent %s, want %s", n.path(), n.mc.Parent().Path(), n.parent.path())
	}
	if st.Own.Bytes != have {
		a.fail("%s counts %d bytes, its arena has %d: %+v, %v", n.path(), st.Own.Bytes, have, st, n.mc.Arena().Stats())
	}
	list := n.subtree()
	if a.leased || !n.quiet() || slices.ContainsFunc(list, func(x *twin) bool { return x.user != nil }) {
		return // others may be at work below
	}
	bytes, i := 0, 0
	n.mc.Walk(func(c *memctx.Context, depth int) bool {
		if i >= len(list) || list[i].mc != c {
			a.fail("Walk of %s gives %s at place %d", n.path(), c.Path(), i)
		}
		bytes += list[i].mc.Arena().Stats().Reserved
		i++
		return true
	})
	if i != len(list) {
		a.fail("Walk of %s gives %d contexts, want %d", n.path(), i, len(list))
	}
	if st = n.mc.Stats(); st.Contexts != len(list) || st.Children != len(n.children) || st.Total.Bytes != bytes {
		a.fail("%s is %+v, want %d contexts with %d bytes", n.path(), st, len(list), bytes)
	}
	if n.limit == 0 {
		return
	}
	a.count(evLedgers)
	if have, want := ledger(n.mc, n.limit), n.ledger(); have < want || have > want && !n.tainted {
		a.fail("the ledger of %s has %d bytes, want %d", n.path(), have, want)
	}
}

// ledger adds up what n and all below it have of n's limit.
func (n *twin) ledger() int {
	total := n.mc.Arena().Stats().Reserved
	for _, c := range n.children {
		total += max(c.ledger(), c.reserve)
	}
	return total
}
