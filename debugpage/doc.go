// Package debugpage shows where a running program has its memory: the tree of
// memory contexts, caches, pools, limits and leaks, live, as a page for browsers
// and as JSON.
//
// Use it in servers and in whatever runs for long and listens anyway. Do not use
// it on an address that the world can reach: see [Register]. For a report in a
// log or on a signal use [memctx.WriteReport] and [memctx.DumpOnSignal], for
// alerts the adapters in contrib.
//
//	debug := http.NewServeMux()
//	debugpage.Register(debug)
//	go http.ListenAndServe("localhost:6060", debug)
//
// and then http://localhost:6060/debug/haven/ in a browser, or haven top on the
// command line. Importing the package registers nothing.
//
// # What it shows
//
// What the leak finder found, with stacks; its number is at the very top. Then
// contexts as an icicle: each box is as wide as the bytes of a context and all
// below it, and the darker, the more of them are its own. More than eight siblings
// of one name are one box, "request ×100". A click, or Enter, opens it or zooms in;
// Escape zooms out; the arrow keys go from box to box. On a phone it is a list. Then
// limits that are half used and more, with the others behind a line, names of
// contexts and single contexts ranked by bytes, slab caches in the columns of Linux'
// slabinfo, and pools with their hit rates. The curves reach back five minutes,
// whether or not somebody was looking.
//
// Below the page is what [memctx.WriteProfile] writes:
//
//	go tool pprof http://localhost:6060/debug/haven/profile
//
// The page needs no network but its own server. It works without JavaScript too,
// as tables of one moment.
//
// # What it costs
//
// A request costs what [memctx.TakeSnapshot] does, some hundred nanoseconds for
// each context in the program, and up to a megabyte of JSON: at most 2000
// contexts are listed, those with most bytes, and the others counted. An open
// page asks every two seconds, or less often if the answer takes long to make. A
// goroutine takes a sample for the curves every two seconds, or less often, so
// that this stays below 1 % of one CPU. The history takes some 20 KiB.
//
// The idea is that of net/http/pprof; the columns are those of slabtop and the
// picture is that of flame graphs, hung up the other way.
package debugpage
