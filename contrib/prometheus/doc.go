// Package havenprometheus shows a process's memory contexts, caches and pools to
// Prometheus.
//
// Use it in a program that already serves metrics by Prometheus' client library
// (github.com/prometheus/client_golang). Register the collector once:
//
//	prometheus.MustRegister(havenprometheus.NewCollector())
//	http.Handle("/metrics", promhttp.Handler())
//
// Do not use it to look into a tree of contexts, or for one request: that is for
// a report or a profile of package memctx. For programs that send their metrics by
// OpenTelemetry there is package havenotel, with the same numbers.
//
// # Metrics
//
// Memory contexts, by name:
//
//	haven_context_live                    in trees, those held by leases included
//	haven_context_held                    deleted and held by leases
//	haven_context_bytes                   in chunks of the arenas of live ones
//	haven_context_chunks
//	haven_context_high_water_bytes        the most of one context at one time
//	haven_context_created_total
//	haven_context_deleted_total
//	haven_context_abandoned_total
//	haven_context_dropped_total           left to the garbage collector unasked
//	haven_context_limit_errors_total      allocations that a limit refused
//	haven_context_warm_arenas             idle, for contexts to come
//	haven_context_warm_bytes
//	haven_context_warm_gets_total         by result: hit, miss
//
// Caches of package slab that have a name, by name:
//
//	haven_cache_objects                   by state: in_use, cached, depot, free
//	haven_cache_capacity                  if there is a bound
//	haven_cache_slabs                     by state: in_use, empty
//	haven_cache_bytes
//	haven_cache_allocs_total              by result: hit, miss
//	haven_cache_frees_total
//
// Pools of package pool that have a name, by name:
//
//	haven_pool_objects                    by state: in_use, idle
//	haven_pool_max_objects                if there is a bound
//	haven_pool_bytes                      of idle objects
//	haven_pool_max_bytes                  if there is a bound
//	haven_pool_gets_total                 by result: hit, miss
//	haven_pool_puts_total
//	haven_pool_dropped_total              by reason: full, bytes, size, panic, twice, watched
//	haven_pool_trimmed_total
//
// Findings of the leak finder:
//
//	haven_leaks_total                     by kind, what and name
//
// Memory that was referred to after its release, see StalePointers of package check:
//
//	haven_stale_pointers_total            by what and name
//
// # A dashboard and alerts
//
// Beside this file lie dashboard.json, which Grafana imports, and alerts.yml with rules
// for Prometheus. Both ask for the metrics above and for those of the client library's Go
// collector. The alerts say what to look at next; their bounds are a beginning.
//
// # Series
//
// There is a series for each name, not for each context: the identities of
// contexts and their paths are in no label, so the number of series does not
// depend on how much work there is. It does depend on the names: a program should
// not make names up as it runs. Bytes of a name that are not UTF-8 are replaced.
//
// Caches of the same name are one, their numbers added up, and so are pools. A
// bound is shown if all of them have one. When one of them dies, which the garbage
// collector notices, what it had counted up to the last scrape stays in the
// counters, so that they do not fall; what came after that scrape is missing. When
// the last of a name dies its series end, and one that is made later begins at
// zero.
//
// Labels for the whole process, and another prefix, come with
// [prometheus.WrapRegistererWith] and [prometheus.WrapRegistererWithPrefix].
package havenprometheus
