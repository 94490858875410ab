package memhttp

import (
	"net/http"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/request"
	"github.com/haven-mem/haven/memctx"
)

// Handler returns a handler that opens a memory context for each request
// and ends it when next has returned; next finds it with [memctx.FromContext] of
// the request's context.Context, and must not delete it. Its name is that of the route, see
// Config.Route.
//
// The context is made below the one that the request's context.Context carries (of
// the connection, if the server went through [Wrap]; of another Handler outside of
// this one), or else below Config.Parent. Where it ends, and when its memory
// is left to the garbage collector, is in the package's documentation.
//
// The ResponseWriter that next gets notes whether something was written. It is an
// http.Flusher, http.Hijacker, http.Pusher and io.ReaderFrom if what is below it
// is, and has Unwrap for http.ResponseController. It is no http.CloseNotifier.
//
// For what each request costs see the package's documentation.
//
// In the check build a fault in next, while it runs and on its goroutine, is a panic. If
// a panic comes from released memory, package check reports it, with the method and the
// pattern, before the panic goes on.
//
// Handler panics if next is nil and if a setting is out of its range.
func Handler(next http.Handler, conf ...Config) http.Handler {
	if next == nil {
		panic("memhttp: Handler(nil)")
	}
	return newHandler(next, configOf("Handler", conf))
}

func newHandler(next http.Handler, conf Config) *handler {
	h := &handler{next: next, conf: conf}
	if h.conf.Route == nil {
		h.conf.Route = pattern
		if mux, ok := next.(*http.ServeMux); ok {
			h.conf.Route = func(r *http.Request) string {
				_, pattern := mux.Handler(r)
				return pattern
			}
		}
	}
	return h
}

type handler struct {
	next   http.Handler
	conf   Config
	routes request.Names
	server bool // put in by Wrap
}

// root is above the contexts of those who name no parent.
var root = request.Root{Name: "http"}

// An exchange is a request with its answer, in one piece of Go's heap: whoever keeps a part
// of it over the end has it to himself. It takes 512 bytes: what is larger costs twice as much.
type exchange struct {
	answer
	request http.Request // that the handler got
	handler *handler
	place   request.Place
	proto   uint8 // major version
	whole   bool  // the handler returned
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conf := memctx.Config{Limit: h.conf.RequestLimit, FirstChunk: h.conf.FirstChunk, Retain: h.conf.Retain}
	name := h.routes.Of(h.conf.Route(r), "request")
	conf.Ident = h.conf.Ident(r)
	x := &exchange{handler: h, proto: uint8(r.ProtoMajor)}
	x.below = w
	ctx := r.Context()
	x.scope.Context = ctx
	x.place = request.Find(ctx, h.conf.Parent, &root)
	*x.scope.Carry() = x.place.Open(name, conf)
	x.request = *r.WithContext(&x.scope) // which is inlined, so that there is no other copy on the heap
	if check.Enabled {
		defer request.FaultsPanic()()
	}
	defer x.close()
	h.next.ServeHTTP(x.writer(), &x.request)
	x.whole = true
}

// close ends the memory context and sees to a panic of the handler. It must be
// deferred itself, since it recovers.
func (x *exchange) close() {
	if x.whole {
		sure := !x.scope.Close() && !x.unsure.Load() && x.scope.Err() == nil
		if sure {
			x.keepHeader()
		}
		x.place.End(*x.scope.Carried(), sure)
		return
	}
	v := recover()
	if check.Enabled {
		request.Explain(v, func() string { return served(&x.request) })
	}
	x.scope.Close()
	x.place.End(*x.scope.Carried(), false)
	if v != nil { // and not runtime.Goexit
		x.fail(v)
	}
}
