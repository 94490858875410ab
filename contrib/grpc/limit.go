package havengrpc

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/request"
)

// UnaryServerInterceptor is a grpc.UnaryServerInterceptor that makes
// codes.ResourceExhausted of an [*arena.LimitError] that the handler returns or
// panics with, wrapped or not. Other errors and panics go on as they are. It also
// sees if the handler came to its end in a way that leaves in doubt who still uses
// the memory (see the package's documentation).
//
// It goes before interceptors that cut handlers off, and behind those that recover
// from panics. It works without [NewStatsHandler], too.
//
// In the check build a fault in the handler is a panic, and package check reports a
// panic that comes from released memory, with the method.
func UnaryServerInterceptor(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	g := guard{ctx: ctx}
	if check.Enabled {
		if info != nil {
			g.method = info.FullMethod
		}
		defer request.FaultsPanic()()
	}
	defer g.end(&err)
	reply, err = handler(ctx, req)
	g.whole = true
	return reply, err
}

// StreamServerInterceptor is [UnaryServerInterceptor] for streams.
func StreamServerInterceptor(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	g := guard{ctx: stream.Context()}
	if check.Enabled {
		if info != nil {
			g.method = info.FullMethod
		}
		defer request.FaultsPanic()()
	}
	defer g.end(&err)
	err = handler(srv, stream)
	g.whole = true
	return err
}

// A guard looks at how a handler ends.
type guard struct {
	ctx    context.Context
	whole  bool   // it returned
	method string // in the check build
}

// end must be deferred itself, since it recovers.
func (g *guard) end(err *error) {
	if g.whole {
		if g.ctx.Err() != nil {
			g.doubt()
		}
		if limit := limitIn(*err); limit != nil {
			if _, ok := status.FromError(*err); !ok {
				*err = g.exhausted(limit)
			}
		}
		return
	}
	g.doubt()
	v := recover()
	if check.Enabled {
		request.Explain(v, func() string { return g.method })
	}
	switch v := v.(type) {
	case nil: // runtime.Goexit
	case error:
		limit := limitIn(v)
		if limit == nil {
			panic(v)
		}
		*err = g.exhausted(limit)
	default:
		panic(v)
	}
}

// doubt keeps the RPC's memory from being used again.
func (g *guard) doubt() {
	if r := rpcOf(g.ctx); r != nil {
		r.unsure.Store(true)
	}
}

// exhausted returns the error for the client, which does not tell what the server
// is like inside.
func (g *guard) exhausted(limit *arena.LimitError) error {
	text := "memory limit of the RPC"
	if r := rpcOf(g.ctx); r != nil && r.begun && request.Above(limit, *r.scope.Carried()) {
		text = "memory limit of the server"
	}
	return status.Error(codes.ResourceExhausted, text)
}

// limitIn returns the limit that err is about, or nil.
func limitIn(err error) *arena.LimitError {
	var limit *arena.LimitError
	errors.As(err, &limit)
	return limit
}
