// Package havenotel gives the numbers of a process's memory contexts, caches and
// pools to OpenTelemetry.
//
// Use it in a program that sets up a meter provider of OpenTelemetry. Register once:
//
//	meter := provider.Meter("github.com/haven-mem/haven")
//	registration, err := havenotel.Register(meter)
//
// Do not use it to look into a tree of contexts, or for one request: that is for
// a report or a profile of package memctx. For programs that serve Prometheus by
// its own client library there is package havenprometheus, with the same numbers.
//
// # Metrics
//
// Memory contexts, by haven.context.name:
//
//	haven.context.live               {context}  in trees, those held by leases included
//	haven.context.held               {context}  deleted and held by leases
//	haven.context.bytes              By         in chunks of the arenas of live ones
//	haven.context.chunks             {chunk}
//	haven.context.high_water_bytes   By         the most of one context at one time
//	haven.context.created            {context}
//	haven.context.deleted            {context}
//	haven.context.abandoned          {context}
//	haven.context.dropped            {context}  left to the garbage collector unasked
//	haven.context.limit_errors       {error}    allocations that a limit refused
//	haven.context.warm_arenas        {arena}    idle, for contexts to come
//	haven.context.warm_bytes         By
//	haven.context.warm_gets          {arena}    by haven.context.result: hit, miss
//
// Caches of package slab that have a name, by haven.cache.name:
//
//	haven.cache.objects              {object}   by haven.cache.state: in_use, cached, depot, free
//	haven.cache.capacity             {object}   if there is a bound
//	haven.cache.slabs                {slab}     by haven.cache.state: in_use, empty
//	haven.cache.bytes                By
//	haven.cache.allocs               {object}   by haven.cache.result: hit, miss
//	haven.cache.frees                {object}
//
// Pools of package pool that have a name, by haven.pool.name:
//
//	haven.pool.objects               {object}   by haven.pool.state: in_use, idle
//	haven.pool.max_objects           {object}   if there is a bound
//	haven.pool.bytes                 By         of idle objects
//	haven.pool.max_bytes             By         if there is a bound
//	haven.pool.gets                  {object}   by haven.pool.result: hit, miss
//	haven.pool.puts                  {object}
//	haven.pool.dropped               {object}   by haven.pool.reason: full, bytes, size, panic, twice, watched
//	haven.pool.trimmed               {object}
//
// Findings of the leak finder:
//
//	haven.leaks                      {finding}  by haven.leak.kind, haven.leak.what and haven.leak.name
//
// Memory that was referred to after its release, see StalePointers of package check:
//
//	haven.stale_pointers             {release}  by haven.stale.what and haven.stale.name
//
// What only grows is an observable counter, what goes up and down and can be added
// up is an observable up-down counter, and haven.context.high_water_bytes is an observable
// gauge. The unit is in the names of bytes because there are other measures of the
// same things beside them. An exporter to Prometheus that writes underscores for
// dots makes the metrics' names that package havenprometheus has.
//
// # Attributes
//
// There is a value for each name, not for each context: the identities of contexts
// and their paths are in no attribute, so the number of values does not depend on
// how much work there is. It does depend on the names: a program should not make
// names up as it runs. Bytes of a name that are not UTF-8 are replaced.
//
// Caches of the same name are one, their numbers added up, and so are pools. A
// bound is shown if all of them have one. When one of them dies, which the garbage
// collector notices, what it had counted up to the last collection of metrics stays
// in the counters, so that they do not fall; what came after it is missing. When
// the last of a name dies its values end, and one that is made later begins at
// zero.
package havenotel
