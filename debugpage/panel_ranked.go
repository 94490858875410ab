package debugpage

import (
	"cmp"
	"slices"

	"github.com/haven-mem/haven/memctx"
)

// Rows of the rankings.
const (
	rankedNames    = 50
	rankedContexts = 20
)

// rankNames returns the names of contexts by bytes; static/panel_names.js does
// the same.
func rankNames(s *Stats) []memctx.NameStats {
	list := slices.Clone(s.Names)
	slices.SortStableFunc(list, func(a, b memctx.NameStats) int {
		return cmp.Compare(b.Usage.Bytes, a.Usage.Bytes)
	})
	return list[:min(rankedNames, len(list))]
}

// rankContexts returns the contexts by bytes of their own; static/panel_ranked.js
// does the same.
func rankContexts(s *Stats) []memctx.Row {
	list := slices.DeleteFunc(slices.Clone(s.Contexts), func(r memctx.Row) bool { return r.Own.Bytes == 0 })
	slices.SortStableFunc(list, func(a, b memctx.Row) int {
		return cmp.Compare(b.Own.Bytes, a.Own.Bytes)
	})
	return list[:min(rankedContexts, len(list))]
}
