package metrics

import (
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A column is where the values of a metric come from, or those of them that have
// a certain last label.
type column[S any] struct {
	metric *Metric
	label  string // "": none but the row's
	merge  merge
	of     func(*S) int64
}

const (
	bytes    = "By"
	contexts = "{context}"
	arenas   = "{arena}"
	objects  = "{object}"
)

var (
	byName = []string{"name"}
	byKind = []string{"kind", "what", "name"}
)

// with returns the labels of metrics that have one beside the name.
func with(label string) []string { return []string{"name", label} }

// Metrics returns all there are, each with its values' columns beside each other in
// one of the tables.
func Metrics() []*Metric {
	var list []*Metric
	add := func(m *Metric) {
		if len(list) == 0 || list[len(list)-1] != m {
			list = append(list, m)
		}
	}
	for i := range contextTable {
		add(contextTable[i].metric)
	}
	for i := range cacheTable {
		add(cacheTable[i].metric)
	}
	for i := range poolTable {
		add(poolTable[i].metric)
	}
	for i := range leakTable {
		add(leakTable[i].metric)
	}
	for i := range staleTable {
		add(staleTable[i].metric)
	}
	return list
}

var (
	contextLive        = &Metric{"context", "context.live", Sum, contexts, "Memory contexts in trees, those included that are deleted and held by leases.", byName}
	contextHeld        = &Metric{"context", "context.held", Sum, contexts, "Memory contexts that are deleted and held by leases.", byName}
	contextBytes       = &Metric{"context", "context.bytes", Sum, bytes, "Memory in the chunks of the arenas of live memory contexts.", byName}
	contextChunks      = &Metric{"context", "context.chunks", Sum, "{chunk}", "Chunks of the arenas of live memory contexts.", byName}
	contextHighWater   = &Metric{"context", "context.high_water_bytes", Gauge, bytes, "The most memory that one memory context had at one time.", byName}
	contextCreated     = &Metric{"context", "context.created", Counter, contexts, "Memory contexts created.", byName}
	contextDeleted     = &Metric{"context", "context.deleted", Counter, contexts, "Memory contexts deleted.", byName}
	contextAbandoned   = &Metric{"context", "context.abandoned", Counter, contexts, "Memory contexts abandoned to the garbage collector.", byName}
	contextDropped     = &Metric{"context", "context.dropped", Counter, contexts, "Memory contexts that the garbage collector found, neither deleted nor abandoned.", byName}
	contextLimitErrors = &Metric{"context", "context.limit_errors", Counter, "{error}", "Allocations that a limit of memory refused.", byName}
	contextWarm        = &Metric{"context", "context.warm_arenas", Sum, arenas, "Idle arenas that wait for new memory contexts.", byName}
	contextWarmBytes   = &Metric{"context", "context.warm_bytes", Sum, bytes, "Memory in the chunks of idle arenas that wait for new memory contexts.", byName}
	contextWarmGets    = &Metric{"context", "context.warm_gets", Counter, arenas, "Arenas that memory contexts took: hit, a warm one, or miss, a new one.", with("result")}
)

var contextTable = []column[memctx.NameStats]{
	{contextLive, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Live) }},
	{contextHeld, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Held) }},
	{contextBytes, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Usage.Bytes) }},
	{contextChunks, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Usage.Chunks) }},
	{contextHighWater, "", peaks, func(s *memctx.NameStats) int64 { return int64(s.Usage.HighWater) }},
	{contextCreated, "", sums, func(s *memctx.NameStats) int64 { return number(s.Created) }},
	{contextDeleted, "", sums, func(s *memctx.NameStats) int64 { return number(s.Deleted) }},
	{contextAbandoned, "", sums, func(s *memctx.NameStats) int64 { return number(s.Abandoned) }},
	{contextDropped, "", sums, func(s *memctx.NameStats) int64 { return number(s.Dropped) }},
	{contextLimitErrors, "", sums, func(s *memctx.NameStats) int64 { return number(s.LimitErrors) }},
	{contextWarm, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Warm.Idle) }},
	{contextWarmBytes, "", sums, func(s *memctx.NameStats) int64 { return int64(s.Warm.Reserved) }},
	{contextWarmGets, "hit", sums, func(s *memctx.NameStats) int64 { return number(s.Warm.Hits) }},
	{contextWarmGets, "miss", sums, func(s *memctx.NameStats) int64 { return number(s.Warm.Misses) }},
}

var (
	cacheObjects  = &Metric{"cache", "cache.objects", Sum, objects, "Objects in the slabs of caches: in_use; cached, free in a magazine of a P; depot, free in the depot; or free, in their slab.", with("state")}
	cacheCapacity = &Metric{"cache", "cache.capacity", Sum, objects, "The most objects that may be in use, if there is a bound.", byName}
	cacheSlabs    = &Metric{"cache", "cache.slabs", Sum, "{slab}", "Slabs of caches: in_use, with objects in use or in a magazine, or empty.", with("state")}
	cacheBytes    = &Metric{"cache", "cache.bytes", Sum, bytes, "Memory in the slabs of caches.", byName}
	cacheAllocs   = &Metric{"cache", "cache.allocs", Counter, objects, "Objects allocated: hit, from a magazine of the P, or miss, with the help of the depot.", with("result")}
	cacheFrees    = &Metric{"cache", "cache.frees", Counter, objects, "Objects freed.", byName}
)

var cacheTable = []column[slab.Stats]{
	{cacheObjects, "in_use", sums, func(s *slab.Stats) int64 { return int64(s.InUse) }},
	{cacheObjects, "cached", sums, func(s *slab.Stats) int64 { return int64(s.Cached) }},
	{cacheObjects, "depot", sums, func(s *slab.Stats) int64 { return int64(s.Depot) }},
	// While others are at work the rest may be anything.
	{cacheObjects, "free", sums, func(s *slab.Stats) int64 { return int64(max(s.Objects-s.InUse-s.Cached-s.Depot, 0)) }},
	{cacheCapacity, "", bounds, func(s *slab.Stats) int64 { return int64(s.Capacity) }},
	{cacheSlabs, "in_use", sums, func(s *slab.Stats) int64 { return int64(s.SlabsInUse) }},
	{cacheSlabs, "empty", sums, func(s *slab.Stats) int64 { return int64(s.Slabs - s.SlabsInUse) }},
	{cacheBytes, "", sums, func(s *slab.Stats) int64 { return int64(s.Bytes) }},
	{cacheAllocs, "hit", sums, func(s *slab.Stats) int64 { return number(s.Hits) }},
	{cacheAllocs, "miss", sums, func(s *slab.Stats) int64 { return number(s.Misses) }},
	{cacheFrees, "", sums, func(s *slab.Stats) int64 { return number(s.Frees) }},
}

var (
	poolObjects    = &Metric{"pool", "pool.objects", Sum, objects, "Objects of pools: in_use, got and not put, or idle. More may be put than were got, so those in use may be negative.", with("state")}
	poolMaxObjects = &Metric{"pool", "pool.max_objects", Sum, objects, "The most objects that may be idle, if there is a bound.", byName}
	poolBytes      = &Metric{"pool", "pool.bytes", Sum, bytes, "Memory of the idle objects of pools.", byName}
	poolMaxBytes   = &Metric{"pool", "pool.max_bytes", Sum, bytes, "The most memory that idle objects may take, if there is a bound.", byName}
	poolGets       = &Metric{"pool", "pool.gets", Counter, objects, "Objects got from pools: hit, an idle one, or miss, a new one.", with("result")}
	poolPuts       = &Metric{"pool", "pool.puts", Counter, objects, "Objects put into pools, those included that were dropped.", byName}
	poolDropped    = &Metric{"pool", "pool.dropped", Counter, objects, "Objects put into pools and not kept: full or bytes, because of a bound; size, no size class takes them; panic, of Cost or Reset; twice, idle already; watched, for the garbage collector to find pointers to them.", with("reason")}
	poolTrimmed    = &Metric{"pool", "pool.trimmed", Counter, objects, "Idle objects let go.", byName}
)

var poolTable = []column[pool.Stats]{
	{poolObjects, "in_use", sums, func(s *pool.Stats) int64 { return int64(s.InUse) }},
	{poolObjects, "idle", sums, func(s *pool.Stats) int64 { return int64(s.Idle) }},
	{poolMaxObjects, "", bounds, func(s *pool.Stats) int64 { return int64(s.Max) }},
	{poolBytes, "", sums, func(s *pool.Stats) int64 { return int64(s.Bytes) }},
	{poolMaxBytes, "", bounds, func(s *pool.Stats) int64 { return int64(s.MaxBytes) }},
	{poolGets, "hit", sums, func(s *pool.Stats) int64 { return number(s.Hits) }},
	{poolGets, "miss", sums, func(s *pool.Stats) int64 { return number(s.Misses) }},
	{poolPuts, "", sums, func(s *pool.Stats) int64 { return number(s.Puts) }},
	{poolDropped, "full", sums, func(s *pool.Stats) int64 { return number(s.DroppedFull) }},
	{poolDropped, "bytes", sums, func(s *pool.Stats) int64 { return number(s.DroppedBytes) }},
	{poolDropped, "size", sums, func(s *pool.Stats) int64 { return number(s.DroppedSize) }},
	{poolDropped, "panic", sums, func(s *pool.Stats) int64 { return number(s.DroppedPanic) }},
	{poolDropped, "twice", sums, func(s *pool.Stats) int64 { return number(s.DroppedTwice) }},
	{poolDropped, "watched", sums, func(s *pool.Stats) int64 { return number(s.DroppedWatched) }},
	{poolTrimmed, "", sums, func(s *pool.Stats) int64 { return number(s.Trimmed) }},
}

var leaks = &Metric{"leak", "leaks", Counter, "{finding}", "Findings of the leak finder, but for stale pointers.", byKind}

var leakTable = []column[check.Finding]{
	{leaks, "", sums, func(l *check.Finding) int64 { return number(l.Count) }},
}

var stalePointers = &Metric{"stale", "stale_pointers", Counter, "{release}", "Watched releases of memory that was still referred to two garbage collections later.", []string{"what", "name"}}

var staleTable = []column[check.Finding]{
	{stalePointers, "", sums, func(l *check.Finding) int64 { return number(l.Count) }},
}
