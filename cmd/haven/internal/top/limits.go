package top

import (
	"github.com/haven-mem/haven/debugpage"
)

// A bound is something that has a limit.
type bound struct {
	kind        string // process, context, cache or pool
	name        string
	used, limit uint64
	reserved    int  // of a context: bytes set aside in the limits above it
	objects     bool // and not bytes
}

func (b *bound) amount(n uint64) string {
	if b.objects {
		return formatCount(n) + " obj"
	}
	return formatBytes(n)
}

var (
	limitColumns = []column[bound]{
		{heading{"FULL", false, 0}, func(b *bound) string { return formatShare(b.used, b.limit) }},
		{heading{"USED", false, 0}, func(b *bound) string { return b.amount(b.used) }},
		{heading{"LIMIT", false, 0}, func(b *bound) string { return b.amount(b.limit) }},
		{heading{"RESERVED", false, 2}, func(b *bound) string { return formatBound(b.reserved) }},
		{heading{"KIND", true, 1}, func(b *bound) string { return b.kind }},
	}
	limitOrders = []order[bound]{
		descending("full", func(b *bound) float64 { return float64(b.used) / float64(b.limit) }),
		byName(func(b *bound) string { return b.name }),
	}
	limitsView = &view{
		name: "limits", title: "limits", key: 'i',
		empty: "Nothing has a limit. A Config of memctx, slab or pool, and GOMEMLIMIT set one.",
		sorts: orderNames(limitOrders), table: limitsTable,
	}
)

func limitsTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(limitColumns), last: "LIMIT OF"}
	for _, b := range sorted(bounds(s), limitOrders, sort) {
		line := row{cells: cellsOf(limitColumns, b), name: quoted(b.name)}
		if b.kind == "pool" {
			line.note = ", idle"
		}
		if isNear(b.used, b.limit) {
			line.mark = near
		}
		t.rows = append(t.rows, line)
	}
	return t
}

// bounds collects what the page's panel of limits does.
func bounds(s *debugpage.Stats) []bound {
	var list []bound
	add := func(b bound, used, limit int) {
		if limit > 0 {
			b.used, b.limit = uint64(max(used, 0)), uint64(limit)
			list = append(list, b)
		}
	}
	if s.Process.MemoryLimit > 0 {
		list = append(list, bound{kind: "process", name: "GOMEMLIMIT", used: s.Process.Mapped, limit: s.Process.MemoryLimit})
	}
	for _, c := range s.Contexts {
		add(bound{kind: "context", name: c.Path, reserved: c.Reserve}, c.Total.Bytes, c.Limit)
	}
	for _, c := range s.Caches {
		add(bound{kind: "cache", name: c.Name, objects: true}, c.InUse, c.Capacity)
	}
	for _, p := range s.Pools {
		add(bound{kind: "pool", name: p.Name, objects: true}, p.Idle, p.Max)
		add(bound{kind: "pool", name: p.Name}, p.Bytes, p.MaxBytes)
	}
	return list
}
