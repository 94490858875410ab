package memhttp

import (
	"net/http"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/request"
	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// Handler returns a handler that opens a memory context "request" for each request
// and ends it when next has returned; next finds it with [memctx.FromContext] of
// the request's context.Context, and must not delete it.
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
// For each request it costs some 600 ns, and 950 bytes in 6 pieces of Go's heap; a
// context of its own at the top, where there is no connection and no parent, costs
// as much again at times.
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
	return &handler{next: next, conf: configOf("Handler", conf)}
}

type handler struct {
	next   http.Handler
	conf   Config
	server bool // put in by Wrap
}

// root is above the contexts of those who name no parent.
var root = request.Root{Name: "http"}

// An exchange is a request with its answer.
type exchange struct {
	request check.Only[*http.Request] // that the handler got
	handler *handler
	scope   scope.Scope[memctx.Context] // the request's context.Context
	place   request.Place
	answer  answer
	proto   int  // major version
	whole   bool // the handler returned
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{handler: h, proto: r.ProtoMajor}
	x.answer.below, x.answer.scope = w, &x.scope
	x.scope.Context = r.Context()
	ident := h.conf.Ident(r)
	x.place = request.Find(r.Context(), h.conf.Parent, &root)
	x.scope.Carry(x.place.Child("request", memctx.Config{Ident: ident, Limit: h.conf.RequestLimit}))
	req := r.WithContext(&x.scope)
	if check.Enabled {
		*x.request.Get() = req
		defer request.FaultsPanic()()
	}
	defer x.close()
	h.next.ServeHTTP(x.answer.writer(), req)
	x.whole = true
}

// close ends the memory context and sees to a panic of the handler. It must be
// deferred itself, since it recovers.
func (x *exchange) close() {
	if x.whole {
		sure := !x.scope.Close() && !x.answer.unsure.Load() && x.scope.Err() == nil
		if sure {
			x.answer.keepHeader()
		}
		x.place.End(x.scope.Carried(), sure)
		return
	}
	v := recover()
	if check.Enabled {
		request.Explain(v, func() string { return served(*x.request.Get()) })
	}
	x.scope.Close()
	x.place.End(x.scope.Carried(), false)
	if v != nil { // and not runtime.Goexit
		x.fail(v)
	}
}
