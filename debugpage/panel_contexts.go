package debugpage

import "github.com/haven-mem/haven/memctx"

// treeRows is how many contexts the page lists for who has no scripts.
const treeRows = 500

// A treeView is the tree of contexts as a table, for browsers without scripts.
// With scripts there is the icicle instead.
type treeView struct {
	Rows []treeRow
	More int // contexts that are not listed
}

type treeRow struct {
	memctx.Row
	Indent int // the depth as far as the page can show it
}

func newTreeView(s *Stats) treeView {
	v := treeView{More: s.Totals.Contexts}
	for _, r := range listAtMost(treeRows, s.Contexts) {
		v.Rows = append(v.Rows, treeRow{r, min(r.Depth, 12)})
	}
	v.More = max(v.More-len(v.Rows), 0)
	return v
}
