// Package havengrpc is for programs that use Haven together with gRPC-Go
// (google.golang.org/grpc). It has no code of its own today: it says, and its
// tests prove with a real client and server, how gRPC takes its buffers from a
// pool with bounds.
//
// gRPC copies each DATA frame that arrives into a buffer of its own, and puts
// the pieces of each frame that leaves together in another. By default they come
// from sync.Pools of the process, which have no bound and no counters.
// [pool.Bytes] has the methods of gRPC's mem.BufferPool, so a server and a
// client take one each, or one together:
//
//	buffers := pool.NewBytes(pool.Name("grpc"), pool.MaxBytes(64<<20))
//	server := grpc.NewServer(experimental.BufferPool(buffers))
//	client, err := grpc.NewClient(target, experimental.WithBufferPool(buffers), …)
//
// The buffer is one of gRPC's transport. A message is marshaled into a buffer of
// the codec, and the protobuf codec knows only gRPC's default pool. What arrives
// in pieces of 1 KiB or less gets no buffer of a pool at all, so a server of
// small messages gains little.
//
// Both options are in gRPC's package experimental, so their names may change
// between its releases.
//
// [pool.Bytes]: https://pkg.go.dev/github.com/haven-mem/haven/pool#Bytes
package havengrpc
