package memctx

import (
	"context"

	"github.com/haven-mem/haven/internal/scope"
)

func init() {
	scope.Retain = func(mc any) bool { return mc.(*Context).r.tryRetain() }
	scope.Release = func(mc any) { mc.(*Context).r.release() }
	scope.Delete = func(mc any) { mc.(*Context).r.deleteHeld() }
	scope.Spare = func(mc any, texts []string) { mc.(*Context).r.spare(texts) }
}

// With returns a context.Context that carries mc, for the edges of a program:
// a middleware, a callback, an interface that has a context.Context and no room
// for anything else. Within a program, pass a Context as a parameter: it shows
// who allocates where, and the compiler sees to it. A nil mc hides the one
// that ctx carries. It costs what context.WithValue does, and panics if ctx is nil.
//
// The context.Context does not keep mc from being deleted, and its end does not
// delete mc.
func With(ctx context.Context, mc *Context) context.Context {
	return context.WithValue(ctx, scope.Key{}, mc)
}

// FromContext returns the memory context that ctx carries, or a nil Context, which
// stands for Go's heap, if there is none. It may be called from any goroutine, and costs
// what ctx.Value does and a few nanoseconds: call it once where work begins, and
// pass on what it returns.
//
// For the context.Context of a request (package memhttp, gRPC) it returns nil
// when the request is over. Until then it notes if ctx was derived with a
// deadline or without cancellation: such work may outlive the request, which then
// leaves the memory to the garbage collector.
func FromContext(ctx context.Context) *Context {
	switch v := ctx.Value(scope.Key{}).(type) {
	case *scope.Scope[*Context]:
		return v.For(ctx)
	case *Context:
		return v
	}
	return nil
}
