package havengrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// gRPC reads some strings of a handler after it has reported the RPC's end, and they
// may lie in the RPC's memory:
//
//   - names and values of header and trailer metadata, which http2Server's
//     writeHeaderLocked and writeStatus put into a queue as they are, and the
//     connection's writer encodes (loopyWriter.headerHandler), and the name of the
//     compressor, which goes with them (SetSendCompressor);
//   - the text of a status, likewise, and its details' type names. Details are
//     marshaled before, but for a server behind net/http: serverHandlerTransport does
//     all this on another goroutine (do, writeStatus). What else a Status has is
//     gRPC's own copy (status.FromProto);
//   - stats.Handlers that come after this one get the same status with stats.End, and
//     tracing keeps its text.
//
// None of this can be replaced by copies. gRPC has taken it when its interceptors have
// returned, and the stream that SetHeader gets from the context.Context must be
// gRPC's own for SetSendCompressor. So the memory in which one of these strings lies is
// left to the garbage collector.

// readLate returns these strings of an RPC that ended with err. ctx is that of
// stats.End, which has the stream. Its trailers may be read by another goroutine now,
// so they come from stats.OutTrailer.
func (r *rpc) readLate(ctx context.Context, err error) (late []string) {
	var header, trailer metadata.MD
	s := grpc.ServerTransportStreamFromContext(ctx)
	if s, ok := s.(interface{ Header() (metadata.MD, error) }); ok {
		header, _ = s.Header()
	}
	if p := r.trailer.Load(); p != nil {
		trailer = *p
	}
	for _, md := range []metadata.MD{header, trailer} {
		for key, values := range md {
			late = append(append(late, key), values...)
		}
	}
	if s, ok := s.(interface{ SendCompress() string }); ok && s.SendCompress() != "" {
		late = append(late, s.SendCompress())
	}
	if err != nil {
		s := status.Convert(err)
		late = append(late, s.Message())
		for _, d := range s.Proto().GetDetails() {
			late = append(late, d.GetTypeUrl())
		}
	}
	return late
}
