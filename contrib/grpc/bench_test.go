package havengrpc_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/stats"

	"github.com/haven-mem/haven/arena"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/memctx"
)

// BenchmarkRPC is what gRPC calls for a unary RPC, without gRPC.
func BenchmarkRPC(b *testing.B) {
	b.ReportAllocs()
	h := havengrpc.NewStatsHandler()
	conn := h.TagConn(context.Background(), new(stats.ConnTagInfo))
	h.HandleConn(conn, new(stats.ConnBegin))
	defer h.HandleConn(conn, new(stats.ConnEnd))
	tag := &stats.RPCTagInfo{FullMethodName: "/haven.Memory/Unary"}
	begin, in, out, end := new(stats.Begin), new(stats.InPayload), new(stats.OutPayload), new(stats.End)
	handler := func(ctx context.Context, _ any) (any, error) {
		return arena.New[[16]byte](memctx.FromContext(ctx).Arena()), nil
	}
	for b.Loop() {
		ctx := h.TagRPC(conn, tag)
		h.HandleRPC(ctx, begin)
		h.HandleRPC(ctx, in)
		havengrpc.UnaryServerInterceptor(ctx, nil, nil, handler)
		h.HandleRPC(ctx, out)
		h.HandleRPC(ctx, end)
	}
}
