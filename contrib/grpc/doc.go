// Package havengrpc is for programs that use Haven together with gRPC-Go
// (google.golang.org/grpc). It gives each RPC of a server a memory context that ends
// when the reply is out, and shows how gRPC takes its buffers from a pool with
// bounds, which its tests prove with a real client and server. Use the first where
// handlers make many objects for each call, the second where messages are large.
//
// # Memory for each RPC
//
//	server := grpc.NewServer(
//		grpc.StatsHandler(havengrpc.NewStatsHandler(havengrpc.Config{RPCLimit: 16 << 20})),
//		grpc.ChainUnaryInterceptor(havengrpc.UnaryServerInterceptor),
//		grpc.ChainStreamInterceptor(havengrpc.StreamServerInterceptor),
//	)
//
// A handler finds its context with memctx.FromContext(ctx), and passes it or its
// arena on as a parameter. In a report the tree looks like
// grpc/conn[127.0.0.1:53412]//haven.Search/Query.
//
// A stats.Handler opens and ends the context, not an interceptor: an interceptor
// returns before gRPC marshals the reply, so memory that it took back would serve
// another RPC when the reply is read. A stats.Handler is told of the end after the
// reply was marshaled, which copies it. The interceptors are there for limits, and
// to learn of handlers that were cut off.
//
// So a reply, with all its strings and bytes, may lie in the RPC's memory, and so
// may the messages of a stream, which SendMsg marshals before it returns.
//
// Header and trailer metadata, names and values, and statuses are read later than
// gRPC says that the RPC has ended. Their strings may lie in the memory, too: the
// context that has one of them leaves its memory to the garbage collector instead of
// handing it on, which costs as much as memory of Go's heap. arena.Clone spares that.
//
// These may not lie there, because they are read later, and not by gRPC alone:
//
//   - messages of a codec that does not copy. Protobuf's does; one of your own that
//     hands out a mem.SliceBuffer of the message does not,
//   - replies in a server with grpc.EnableTracing, which formats them when somebody
//     looks at its page,
//   - messages that an interceptor, a stats.Handler or a binary log keeps,
//   - the error itself that a handler returns, if it is an object of the memory:
//     stats.Handlers that come after this one get it with stats.End.
//
// A goroutine that the handler leaves behind takes a lease, with Retain of package
// memctx. A handler whose deadline is over, or whose client is gone, runs to its end
// in gRPC, and its memory lasts as long. Where it is not certain that a handler is
// done with its memory, the memory is left to the garbage collector, as with package
// memhttp: after a panic, if the RPC's context was over when the handler returned,
// and if it asked for its memory with a context whose own deadline is over, or which
// cannot be cancelled. Callbacks of OnReset do not run then.
//
// Going over a limit, an *arena.LimitError, becomes codes.ResourceExhausted.
//
// # Buffers
//
// gRPC copies each DATA frame that arrives into a buffer of its own, and puts
// the pieces of each frame that leaves together in another. By default they come
// from sync.Pools of the process, which have no bound and no counters.
// [pool.Bytes] has the methods of gRPC's mem.BufferPool, so a server and a
// client take one each, or one together:
//
//	buffers := pool.NewBytes(pool.BytesConfig{Name: "grpc", MaxBytes: 64 << 20})
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
