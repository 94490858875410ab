package debugpage

import (
	"math"
	"slices"
	"time"

	"github.com/haven-mem/haven/memctx"
)

// maxRows is how many contexts Stats lists: under 1 MB of JSON. A snapshot has
// up to a hundred children of each context, which multiplies with the depth.
const maxRows = 2000

// collect returns everything as it is now.
func collect(take func() *memctx.Snapshot, h *history) *Stats {
	began := time.Now()
	s := &Stats{Format: Format, Process: readProcess(), Snapshot: *take(), History: h.copy()}
	s.Totals = totals(&s.Snapshot)
	s.Contexts = listAtMost(maxRows, s.Contexts)
	s.countUnlisted()
	s.Limits, s.MoreLimits = limits(s)
	s.Contexts, s.Names = notNil(s.Contexts), notNil(s.Names)
	s.Caches, s.Pools, s.Leaks = notNil(s.Caches), notNil(s.Pools), notNil(s.Leaks)
	s.Took = time.Since(began)
	return s
}

// totals adds up. It counts contexts by their names, for a snapshot does not
// list all of them.
func totals(s *memctx.Snapshot) Totals {
	var t Totals
	for _, n := range s.Names {
		t.Contexts += n.Live
		t.ContextBytes += n.Usage.Bytes
		t.WarmBytes += n.Warm.Reserved
	}
	for _, c := range s.Caches {
		t.CacheBytes += c.Bytes
	}
	for _, p := range s.Pools {
		t.IdleBytes += p.Bytes
	}
	for _, l := range s.Leaks {
		t.Leaks += l.Count
	}
	return t
}

// listAtMost returns the n rows with the most bytes, those below them counted; rows in
// groups get the room that is left by the others. Those that go are counted in More of
// their parent. Of rows with the same bytes those listed first stay; a parent has no
// less than its children, comes before them, and is in no group that they are not in, so
// what stays is a tree.
func listAtMost(n int, rows []memctx.Row) []memctx.Row {
	if len(rows) <= n {
		return rows
	}
	ranks := make([]int64, len(rows))
	beside, group := int64(0), math.MaxInt // what rows out of groups are above the others; the depth of the group that we are in
	for _, r := range rows {
		beside = max(beside, int64(r.Total.Bytes)+1)
	}
	for i, r := range rows {
		if r.Depth <= group {
			group = math.MaxInt
		}
		if ranks[i] = int64(r.Total.Bytes); group == math.MaxInt {
			ranks[i] += beside
			if r.Siblings > 0 {
				group = r.Depth
			}
		}
	}
	sizes := slices.Clone(ranks)
	slices.Sort(sizes)
	least := sizes[len(sizes)-n]
	above, _ := slices.BinarySearch(sizes, least+1)
	ties := n - (len(sizes) - above) // of those with the least rank this many stay

	kept := make([]memctx.Row, 0, n)
	var places []int // in kept, of the row that each depth had last; -1 if it went
	for i, r := range rows {
		places = append(places[:r.Depth], -1)
		stays := ranks[i] > least
		if ranks[i] == least && ties > 0 {
			stays = true
			ties--
		}
		switch {
		case stays:
			places[r.Depth] = len(kept)
			kept = append(kept, r)
		case r.Depth > 0 && places[r.Depth-1] >= 0:
			parent := &kept[places[r.Depth-1]]
			parent.More += max(r.Siblings, 1)
			parent.MoreBytes += r.Total.Bytes
		}
	}
	return kept
}

// countUnlisted counts what no row of s counts: trees whose root is not listed.
func (s *Stats) countUnlisted() {
	s.Unlisted, s.UnlistedBytes = s.Totals.Contexts, s.Totals.ContextBytes
	for _, r := range s.Contexts {
		if r.Depth == 0 {
			s.Unlisted -= r.Contexts
			s.UnlistedBytes -= r.Total.Bytes
		}
	}
	// While others are at work the sums are of different moments.
	s.Unlisted, s.UnlistedBytes = max(s.Unlisted, 0), max(s.UnlistedBytes, 0)
}

// notNil is for JSON, where a nil slice is null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
