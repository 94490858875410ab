package top

import (
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/pool"
)

var (
	poolColumns = []column[pool.Stats]{
		{heading{"BYTES", false, 0}, func(p *pool.Stats) string { return formatBytes(p.Bytes) }},
		{heading{"IDLE", false, 0}, func(p *pool.Stats) string { return formatCount(p.Idle) }},
		{heading{"INUSE", false, 0}, func(p *pool.Stats) string { return formatCount(p.InUse) }},
		{heading{"HIGH", false, 3}, func(p *pool.Stats) string { return formatCount(p.HighWater) }},
		{heading{"HITS", false, 1}, func(p *pool.Stats) string { return formatShare(p.Hits, p.Hits+p.Misses) }},
		{heading{"MISSES", false, 2}, func(p *pool.Stats) string { return formatCount(p.Misses) }},
		{heading{"PUTS", false, 6}, func(p *pool.Stats) string { return formatCount(p.Puts) }},
		{heading{"DROPPED", false, 4}, func(p *pool.Stats) string { return formatCount(p.Dropped()) }},
		{heading{"TRIMMED", false, 5}, func(p *pool.Stats) string { return formatCount(p.Trimmed) }},
		{heading{"FLOOR", false, 8}, func(p *pool.Stats) string { return formatCount(p.Floor) }},
		{heading{"MAX", false, 7}, func(p *pool.Stats) string { return formatMost(p.Max) }},
		{heading{"MAXBYTES", false, 7}, func(p *pool.Stats) string { return formatBound(p.MaxBytes) }},
	}
	poolOrders = []order[pool.Stats]{
		descending("bytes", func(p *pool.Stats) int { return p.Bytes }),
		descending("idle", func(p *pool.Stats) int { return p.Idle }),
		descending("inuse", func(p *pool.Stats) int { return p.InUse }),
		descending("misses", func(p *pool.Stats) uint64 { return p.Misses }),
		descending("dropped", func(p *pool.Stats) uint64 { return p.Dropped() }),
		byName(func(p *pool.Stats) string { return p.Name }),
	}
	poolsView = &view{
		name: "pools", title: "pools", key: 'p',
		empty: `No pool has a name. pool.New(newFn, pool.Config[T]{Name: "…"}) lists it here.`,
		sorts: orderNames(poolOrders), table: poolsTable,
	}
)

// poolsTable lists pools, and under a pool of buffers its size classes.
func poolsTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(poolColumns), last: "POOL"}
	for _, p := range sorted(s.Pools, poolOrders, sort) {
		line := row{cells: cellsOf(poolColumns, p), name: quoted(p.Name) + " of " + quoted(p.Type)}
		if isNear(p.Bytes, p.MaxBytes) {
			line.mark = near
		}
		t.rows = append(t.rows, line)
		for _, c := range p.Classes {
			t.rows = append(t.rows, row{cells: classCells(&c), name: "buffers of " + formatBytes(c.Size), indent: 1, mark: faint})
		}
	}
	return t
}

// classCells has the figures of a size class in the columns of its pool, and
// nothing in those it has no figure for.
func classCells(c *pool.ClassStats) []string {
	known := map[string]string{
		"IDLE": formatCount(c.Idle), "INUSE": formatCount(c.InUse), "HITS": formatShare(c.Hits, c.Hits+c.Misses),
		"MISSES": formatCount(c.Misses), "PUTS": formatCount(c.Puts), "DROPPED": formatCount(c.Dropped), "TRIMMED": formatCount(c.Trimmed),
	}
	list := make([]string, len(poolColumns))
	for i, column := range poolColumns {
		list[i] = known[column.title]
	}
	return list
}
