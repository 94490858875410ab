// Package memctx gives a program's work memory with a place in a tree of
// lifetimes: a server, its connections, their requests, a request's query. What is
// below ends before what is above, each part can be bounded, and people can see
// where the memory is.
//
// Use it in servers and query engines, where work nests and its memory should end
// with it whatever happens, and where somebody will ask at 3 a.m. which of it is
// so large. Do not use it for one batch of work with one lifetime: package arena
// alone is smaller. A context is not for values that live longer than it does:
// copy those out with [arena.Clone].
//
//	server := memctx.New("server")
//	conn := server.Child("conn", memctx.Config{Ident: "17", Limit: 64 << 20})
//	request := conn.Child("request", memctx.Config{Limit: 1 << 20})
//	n := arena.New[Node](request.Arena())
//	…
//	request.Delete() // its memory serves the next request
//
// PRACTICE.md, beside this file, tells which contexts a server should have.
//
// Pass a context as a parameter, as one passes an arena: func parse(mc
// memctx.Context, …). At the edges of a program, where there is no parameter to
// pass it through, [With] and [FromContext] carry it in a context.Context.
//
// # Lifetimes
//
// [Context.Reset] ends what is below and takes back what was allocated;
// [Context.Delete] ends the context as well, and gives its memory, warm, to the
// next context of the same name. From then on pointers into it read other values
// of their type, as after [arena.Arena.Reset]. What must outlive the context takes
// a lease with [Context.Retain]; and where nobody knows who still uses it, after a
// timeout, [Context.Abandon] leaves it to the garbage collector.
//
// # Limits
//
// A Limit, see [Config], holds for a context and all below it. Limits are looked at only when
// an arena takes a chunk, so they cost nothing per allocation. An allocation that goes over
// one fails with an [*arena.LimitError], which [arena.TryNew] and the like return, and with
// which others panic. It names the context, the one that asked, and the use of all above.
//
// # Seeing
//
// [WriteReport] shows the tree as text or JSON, [DumpOnSignal] does on a signal,
// [WriteProfile] writes what go tool pprof reads. [Roots], [Names] and
// [Context.Stats] are for programs, package debugpage is for browsers. Leaks and
// VerifyNone of package check find what was not ended, and what was kept beyond the end.
//
// The idea is that of Postgres' memory contexts (src/backend/utils/mmgr/README),
// with the garbage collector as the net under it.
package memctx
