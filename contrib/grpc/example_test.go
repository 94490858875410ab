package havengrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/haven-mem/haven/pool"
)

// A server and a client share a pool that keeps at most 64 MiB.
func Example() {
	buffers := pool.NewBytes(pool.BytesConfig{Name: "grpc", MaxBytes: 64 << 20})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(experimental.BufferPool(buffers))
	healthpb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	defer server.Stop()

	client, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(buffers))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	answer, err := healthpb.NewHealthClient(client).Check(context.Background(), &healthpb.HealthCheckRequest{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status)
	// Output: SERVING
}
