// Package memhttp gives each request of a net/http server a memory context, and
// each connection one above it, and ends them at the right time.
//
// Use it in servers whose handlers make many objects for each request. Do not use
// it for values that outlive the request: a cache's entries, what another
// goroutine finishes later, unless that takes a lease. A handler that allocates
// little gains nothing, see below.
//
//	srv := &http.Server{Addr: ":8080"}
//	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//		mc := memctx.FromContext(r.Context())
//		page := render(mc.Arena(), r.URL.Query().Get("q")) // arena.New[Node](a) and the like
//		w.Write(page)
//	})
//	memhttp.Wrap(srv, memhttp.Config{RequestLimit: 16 << 20})
//	log.Fatal(srv.ListenAndServe())
//
// From the handler on, pass the context or its arena as a parameter. In a report
// the tree looks like http/conn[127.0.0.1:53412]/request[/search], or, with an
// http.ServeMux, like http/conn[127.0.0.1:53412]/GET /search[/search]: the name of a request
// is its route. So a login does not get the warm arena of an export, and reports, stale
// pointers and metrics name the route. See Config.Route.
//
// # When it pays
//
// A request costs one piece of Go's heap, of 512 bytes, and some 450 ns, collections included,
// if its handler does not ask for memory, 630 if it does; two more pieces and 230 ns copy the
// header that such a handler sets, and an http.ServeMux inside of Handler, which is asked
// twice, costs 100. On the busy machine where that was measured, objects of 48 bytes in the
// arena, without a header, are faster than those of Go's heap from some 27 for each request
// on. A handler that makes fewer has no use for it but limits and reports.
//
// # The end of a request
//
// When the handler has returned, the memory of the request serves the next one,
// and everything the handler made of it must be out of use:
//
//   - What was written with the ResponseWriter is out of use. Write has copied the
//     bytes into net/http's buffers, or handed them to the kernel, when it returns;
//     what the buffers still hold then is a copy. The header and the trailers,
//     names and values, which net/http and handlers outside of Handler read later,
//     are copied by this package, and so is what is given to http.Pusher.
//   - A goroutine that the handler started still uses it: it takes a lease
//     with [memctx.Context.Retain] before it is started and releases it at its
//     end.
//   - What was given to something slow is in use, too: http.Client may still read
//     the URL, header and body of a request to another server after the answer is
//     there. Copy it ([arena.Clone]), or wait.
//   - What the handler puts into the request, its header or URL say, or into a value
//     of its context.Context, must be copied if a handler outside of Handler looks at
//     it afterwards. net/http itself does not look.
//   - A header that is written past this package, by a ResponseWriter from Unwrap,
//     must be copied, too.
//
// Where it is not certain that the handler is done with its memory, the memory is
// left to the garbage collector instead of being used again (see
// [memctx.Context.Abandon]): it is slower, and right. That is so
//
//   - after a panic, and after runtime.Goexit;
//   - if the client was gone, or the request's context.Context over for another
//     reason, when the handler returned: it may have returned because of that, and
//     left a goroutine behind. And if a Write failed: net/http's HTTP/2 server may
//     still read the bytes of a Write that broke off;
//   - after a timeout. Inside [http.TimeoutHandler] Handler ends with the handler
//     proper, late. Outside it, http.TimeoutHandler returns while the handler runs;
//     that shows because the handler has asked for its memory with a
//     context.Context whose deadline is over. If it asks later it gets nil, Go's
//     heap;
//   - if the handler has asked with a context.Context that cannot be cancelled
//     ([context.WithoutCancel]);
//   - after Hijack, since the connection goes on without the handler.
//
// Callbacks of OnReset do not run for such memory: what must be closed is closed
// with defer. A connection's context ends with the connection, and after that of
// its last request; it is left to the garbage collector if one of them was.
//
// A middleware that cuts handlers off in another way than by a deadline, and
// returns while they run, must be outside of Handler.
//
// # Limits
//
// A handler that goes over a limit panics with an [*arena.LimitError], or returns
// the error of [arena.TryNew]. Handler answers the panic: 413 for the limit of the
// request, 503 for one above it. If part of an answer is out already the connection
// breaks (HTTP/1) or the stream is reset (HTTP/2), so that nobody takes the part
// for the whole. So a stalled client or an oversized body takes what the limits
// give it, and no more.
package memhttp
