package havengrpc

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	"github.com/haven-mem/haven/internal/request"
	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// An rpc is an RPC, and the context.Context with which it is tagged.
type rpc struct {
	handler *handler
	method  string
	begun   bool // of a server; written before the RPC's handler starts
	scope   scope.Scope[*memctx.Context]
	place   request.Place
	unsure  atomic.Bool // somebody may use the memory after the end
	trailer atomic.Pointer[metadata.MD]

	manyIn  bool                           // the client sends a stream
	manyOut bool                           // the server does
	message atomic.Pointer[memctx.Context] // of EachMessage
	within  request.Place                  // of message
}

type rpcKey struct{}

// rpcOf returns the RPC of a context, or nil.
func rpcOf(ctx context.Context) *rpc {
	r, _ := ctx.Value(rpcKey{}).(*rpc)
	return r
}

// Deadline implements context.Context.
func (r *rpc) Deadline() (time.Time, bool) { return r.scope.Deadline() }

// Done implements context.Context.
func (r *rpc) Done() <-chan struct{} { return r.scope.Done() }

// Err implements context.Context.
func (r *rpc) Err() error { return r.scope.Err() }

// Value implements context.Context.
func (r *rpc) Value(key any) any {
	switch {
	case key == (rpcKey{}):
		return r
	case !r.begun: // or a client's, which changes nothing
		return r.scope.Context.Value(key)
	}
	return r.scope.Value(key)
}

func (r *rpc) begin(s *stats.Begin) {
	if r.begun {
		return
	}
	r.manyIn, r.manyOut = s.IsClientStream, s.IsServerStream
	r.place = request.Find(r.scope.Context, r.handler.conf.Parent, &root)
	conf := memctx.Config{Limit: r.handler.conf.RPCLimit}
	name := r.handler.methods.Of(r.method, "rpc")
	if name == "rpc" {
		conf.Ident = r.method
	}
	*r.scope.Carry() = r.place.Open(name, conf)
	r.begun = true
}

// end is called when the reply was marshaled and the status sent, on the
// handler's goroutine. The context.Context is over by then in any case.
func (r *rpc) end(ctx context.Context, err error) {
	if !r.begun {
		return
	}
	sure := !r.scope.Close() && !r.unsure.Load()
	mc := *r.scope.Carried()
	if sure && r.scope.Asked() {
		if late := r.readLate(ctx, err); len(late) > 0 {
			scope.Spare(mc, late)
		}
	}
	defer r.place.End(mc, sure)
	if m := r.message.Load(); m != nil {
		r.within.End(m, sure)
	}
}

// EachMessage returns a memory context "message" below that of the RPC to which ctx
// belongs, for what a handler of a stream makes for one message. It is reset by
// itself, so that a stream takes no more than its largest message:
//
//   - if the client sends a stream, when the next message has been received, in
//     RecvMsg. What was made for a message lasts as long as the handler is at it,
//     whatever it sends meanwhile;
//   - if only the server sends one, when a message was sent, at the end of SendMsg,
//     which has marshaled it.
//
// What is to last longer belongs into the RPC's own context. All calls for an RPC
// return the same context; it ends with the RPC, and must not be deleted. Only the
// goroutine that receives, or that sends, may use it. The interceptors outside of
// the handler and the stats.Handlers after this one, which look at a message after
// SendMsg, find it cleared if it lies in this memory.
//
// EachMessage returns nil, which stands for Go's heap, if ctx is of no RPC, or of
// one that has ended. In a unary RPC nothing is reset.
func EachMessage(ctx context.Context) *memctx.Context {
	r := rpcOf(ctx)
	if r == nil || !r.begun {
		return nil
	}
	mc := r.scope.For(ctx)
	if mc == nil {
		return nil
	}
	if m := r.message.Load(); m != nil {
		return m
	}
	r.within = request.Find(r, nil, &root)
	m := r.within.Open("message", memctx.Config{})
	r.message.Store(m)
	return m
}

func (r *rpc) received() {
	if m := r.message.Load(); m != nil && r.manyIn {
		m.Reset()
	}
}

func (r *rpc) sent() {
	if m := r.message.Load(); m != nil && r.manyOut && !r.manyIn {
		m.Reset()
	}
}
