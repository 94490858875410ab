package top

import (
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/slab"
)

var (
	cacheColumns = []column[slab.Stats]{
		{heading{"BYTES", false, 0}, func(c *slab.Stats) string { return formatBytes(c.Bytes) }},
		{heading{"INUSE", false, 0}, func(c *slab.Stats) string { return formatCount(c.InUse) }},
		{heading{"OBJECTS", false, 1}, func(c *slab.Stats) string { return formatCount(c.Objects) }},
		{heading{"USE", false, 1}, func(c *slab.Stats) string { return formatShare(c.InUse, c.Objects) }},
		{heading{"SIZE", false, 2}, func(c *slab.Stats) string { return formatBytes(c.ObjectSize) }},
		{heading{"SLABS", false, 3}, func(c *slab.Stats) string { return formatCount(c.Slabs) }},
		{heading{"BUSY", false, 7}, func(c *slab.Stats) string { return formatCount(c.SlabsInUse) }},
		{heading{"OBJ/SLAB", false, 6}, func(c *slab.Stats) string { return formatCount(c.PerSlab) }},
		{heading{"CACHED", false, 5}, func(c *slab.Stats) string { return formatCount(c.Cached) }},
		{heading{"DEPOT", false, 8}, func(c *slab.Stats) string { return formatCount(c.Depot) }},
		{heading{"HITS", false, 4}, func(c *slab.Stats) string { return formatShare(c.Hits, c.Hits+c.Misses) }},
		{heading{"MISSES", false, 7}, func(c *slab.Stats) string { return formatCount(c.Misses) }},
		{heading{"FREES", false, 9}, func(c *slab.Stats) string { return formatCount(c.Frees) }},
		{heading{"CAPACITY", false, 8}, func(c *slab.Stats) string { return formatMost(c.Capacity) }},
	}
	cacheOrders = []order[slab.Stats]{
		descending("bytes", func(c *slab.Stats) int { return c.Bytes }),
		descending("inuse", func(c *slab.Stats) int { return c.InUse }),
		descending("objects", func(c *slab.Stats) int { return c.Objects }),
		descending("slabs", func(c *slab.Stats) int { return c.Slabs }),
		descending("misses", func(c *slab.Stats) uint64 { return c.Misses }),
		byName(func(c *slab.Stats) string { return c.Name }),
	}
	cachesView = &view{
		name: "caches", title: "slab caches", key: 's',
		empty: `No slab cache has a name. slab.NewCache(slab.Config[T]{Name: "…"}) lists it here.`,
		sorts: orderNames(cacheOrders), table: cachesTable,
	}
)

func cachesTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(cacheColumns), last: "CACHE"}
	for _, c := range sorted(s.Caches, cacheOrders, sort) {
		line := row{cells: cellsOf(cacheColumns, c), name: quoted(c.Name)}
		if isNear(c.InUse, c.Capacity) {
			line.mark = near
		}
		t.rows = append(t.rows, line)
	}
	return t
}
