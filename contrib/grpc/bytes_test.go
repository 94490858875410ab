package havengrpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

var _ mem.BufferPool = (*pool.Bytes)(nil)

// The service answers each message with its bytes inverted, by a unary method
// and by a stream. The description is written by hand: it is all that generated
// code would add.
var service = grpc.ServiceDesc{
	ServiceName: "haven.Invert",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Once",
		Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var in wrapperspb.BytesValue
			if err := decode(&in); err != nil {
				return nil, err
			}
			return wrapperspb.Bytes(inverted(in.Value)), nil
		},
	}},
	Streams: []grpc.StreamDesc{{
		StreamName:    "Many",
		ServerStreams: true,
		ClientStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			for {
				var in wrapperspb.BytesValue
				if err := stream.RecvMsg(&in); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if err := stream.SendMsg(wrapperspb.Bytes(inverted(in.Value))); err != nil {
					return err
				}
			}
		},
	}},
}

func inverted(b []byte) []byte {
	out := make([]byte, len(b))
	for i, x := range b {
		out[i] = ^x
	}
	return out
}

// serve starts a server on the loopback interface and a client of it, which
// take their buffers from a pool each. The function it returns closes both and
// waits for the server.
func serve(serverPool, clientPool *pool.Bytes) (client *grpc.ClientConn, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := grpc.NewServer(experimental.BufferPool(serverPool))
	server.RegisterService(&service, nil)
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(listener)
	}()
	client, err = grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(clientPool))
	stop = func() {
		if client != nil {
			client.Close()
		}
		server.GracefulStop()
		<-served
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return client, stop, nil
}

// sizes are around what matters to gRPC: nothing at all, the 1 KiB from which on
// it pools, a frame of 16 KiB, the window of 64 KiB; and up to nearly the 4 MiB
// that a server accepts.
var sizes = []int{0, 1, 1023, 1024, 1025, 4096, 16383, 16384, 16385, 65535, 65536, 100_000, 1 << 20, 1<<20 + 1, 4<<20 - 100}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// once makes a unary call.
func once(client *grpc.ClientConn, payload []byte) error {
	var out wrapperspb.BytesValue
	if err := client.Invoke(context.Background(), "/haven.Invert/Once", wrapperspb.Bytes(payload), &out); err != nil {
		return err
	}
	return compare(out.Value, payload)
}

// compare checks the answer to a payload.
func compare(answer, payload []byte) error {
	want := inverted(payload)
	if bytes.Equal(answer, want) {
		return nil
	}
	if len(answer) != len(want) {
		return fmt.Errorf("%d bytes were answered with %d", len(payload), len(answer))
	}
	for i := range want {
		if answer[i] != want[i] {
			return fmt.Errorf("of %d bytes, that at %d came back as %#x, want %#x", len(payload), i, answer[i], want[i])
		}
	}
	return nil
}

// many sends payloads over one stream, while it receives the answers.
func many(client *grpc.ClientConn, payloads [][]byte) error {
	stream, err := client.NewStream(context.Background(), &service.Streams[0], "/haven.Invert/Many")
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		for _, p := range payloads {
			if err := stream.SendMsg(wrapperspb.Bytes(p)); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	for _, p := range payloads {
		var out wrapperspb.BytesValue
		if err := stream.RecvMsg(&out); err != nil {
			return err
		}
		if err := compare(out.Value, p); err != nil {
			return err
		}
	}
	if err := stream.RecvMsg(new(wrapperspb.BytesValue)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("end of the stream: %v, want EOF", err)
	}
	return <-sent
}

func TestUnary(t *testing.T) {
	testkit.NeedsReuse(t)
	run(t, func(t *testing.T, client *grpc.ClientConn) {
		rng := rand.New(rand.NewPCG(1, 1))
		for range 3 {
			for _, n := range sizes {
				if err := once(client, randomBytes(rng, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestStream(t *testing.T) {
	testkit.NeedsReuse(t)
	run(t, func(t *testing.T, client *grpc.ClientConn) {
		rng := rand.New(rand.NewPCG(2, 2))
		var payloads [][]byte
		for range 3 {
			for _, n := range sizes {
				payloads = append(payloads, randomBytes(rng, n))
			}
		}
		if err := many(client, payloads); err != nil {
			t.Fatal(err)
		}
	})
}

// TestConcurrent has unary calls and streams of many goroutines share the pools,
// so that a buffer which two of them got would show in what they receive.
func TestConcurrent(t *testing.T) {
	testkit.NeedsReuse(t)
	run(t, func(t *testing.T, client *grpc.ClientConn) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				rng := rand.New(rand.NewPCG(3, uint64(g)))
				for range 6 {
					var payloads [][]byte
					for range 6 {
						// All magnitudes up to 128 KiB are as frequent.
						payloads = append(payloads, randomBytes(rng, rng.IntN(1<<(1+rng.IntN(17)))))
					}
					if err := many(client, payloads); err != nil {
						t.Error(err)
						return
					}
					for _, p := range payloads {
						if err := once(client, p); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}()
		}
		wg.Wait()
	})
}

// run calls f with a client whose server is under way, and checks by the pools'
// counters that both sides took buffers from their pool, used them again, and
// had given all of them back when everything was closed.
func run(t *testing.T, f func(t *testing.T, client *grpc.ClientConn)) {
	pools := map[string]*pool.Bytes{
		"server": pool.NewBytes(pool.BytesConfig{Name: "server", MaxBytes: 16 << 20}),
		"client": pool.NewBytes(pool.BytesConfig{Name: "client", MaxBytes: 16 << 20}),
	}
	client, stop, err := serve(pools["server"], pools["client"])
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer stop()
		f(t, client)
	}()
	// The goroutines that write to a connection outlive Close and GracefulStop by
	// the moment that it takes to put their last buffer back.
	deadline := time.Now().Add(10 * time.Second)
	for name, p := range pools {
		for p.Stats().InUse != 0 && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		s := p.Stats()
		if s.InUse != 0 || s.Puts != s.Hits+s.Misses {
			t.Errorf("%s: %d buffers are in use after the end: %v", name, s.InUse, s)
		}
		if s.Hits == 0 || s.Misses == 0 {
			t.Errorf("%s: want buffers that were made, and buffers that were used again: %v", name, s)
		}
		t.Logf("%s: %v", name, s)
	}
}
