package havengrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/memctx"
)

// A server whose RPCs have memory of their own, at most 16 MiB each. An interceptor,
// or a handler, finds it in its context.
func ExampleNewStatsHandler() {
	look := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		mc := memctx.FromContext(ctx)
		fmt.Println(mc.Name(), "with at most", mc.Stats().Limit, "bytes")
		return handler(ctx, req)
	}
	server := grpc.NewServer(
		grpc.StatsHandler(havengrpc.NewStatsHandler(havengrpc.Config{RPCLimit: 16 << 20})),
		grpc.ChainUnaryInterceptor(havengrpc.UnaryServerInterceptor, look),
		grpc.ChainStreamInterceptor(havengrpc.StreamServerInterceptor),
	)
	healthpb.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go server.Serve(listener)
	defer server.GracefulStop()

	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := healthpb.NewHealthClient(client).Check(context.Background(), &healthpb.HealthCheckRequest{}); err != nil {
		log.Fatal(err)
	}
	// Output: /grpc.health.v1.Health/Check with at most 16777216 bytes
}
