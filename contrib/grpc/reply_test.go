package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/arena"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// reply returns a message that lies in mc with all it has, as in has it that it
// should: a seed and a length.
func reply(mc *memctx.Context, in []byte) *wrapperspb.BytesValue {
	var seed, n int
	fmt.Sscanf(string(in), "%d %d", &seed, &n)
	out := arena.New[wrapperspb.BytesValue](mc.Arena())
	out.Value = fill(mc.Arena(), seed, n)
	return out
}

func ask(seed, n int) []byte { return fmt.Appendf(nil, "%d %d", seed, n) }

// lengths are of replies: some that go with the status in a frame, some that fill
// the flow-control window.
var lengths = []int{1, 100, 1000, 16 << 10, 40_000, 200_000}

// TestReplies has many RPCs at the same time, unary ones and streams of each kind,
// whose replies lie in their memory. They use the same warm arenas in turn, so a
// reply that is read too late would show another's.
func TestReplies(t *testing.T) {
	s := start(t, &memoryService{
		unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
			return reply(memctx.FromContext(ctx), in), nil
		},
		stream: func(stream grpc.ServerStream) error {
			each := havengrpc.EachMessage(stream.Context())
			for {
				var in wrapperspb.BytesValue
				if err := stream.RecvMsg(&in); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if err := stream.SendMsg(reply(each, in.Value)); err != nil {
					return err
				}
			}
		},
	}, havengrpc.Config{}, limited...)
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range rounds {
				for i, n := range lengths {
					seed := g*1000 + round*10 + i
					got, err := s.unary(context.Background(), ask(seed, n))
					if err == nil {
						err = intact(got, seed, n)
					}
					if err != nil {
						t.Errorf("unary: %v", err)
						return
					}
				}
				stream, err := s.NewStream(context.Background(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/haven.Memory/Both")
				if err != nil {
					t.Error(err)
					return
				}
				for i, n := range lengths {
					seed := g*1000 + round*10 + i
					var out wrapperspb.BytesValue
					err := errors.Join(stream.SendMsg(wrapperspb.Bytes(ask(seed, n))), stream.RecvMsg(&out))
					if err == nil {
						err = intact(out.Value, seed, n)
					}
					if err != nil {
						t.Errorf("stream: %v", err)
						return
					}
				}
				stream.CloseSend()
				if err := stream.RecvMsg(new(wrapperspb.BytesValue)); !errors.Is(err, io.EOF) {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if n := names("rpc"); n.Warm.Hits == 0 {
		t.Errorf("no RPC used memory again: %v", n)
	}
}

// TestInterceptorIsTooEarly shows why the context is not ended by an interceptor:
// the reply is marshaled when that has returned, from memory that is another's.
func TestInterceptorIsTooEarly(t *testing.T) {
	testkit.NeedsReuse(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each has warm arenas of its own
	early := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		rpc := memctx.FromContext(ctx)
		mc := rpc.Child("early")
		reply, err := handler(memctx.With(ctx, mc), req)
		mc.Delete()
		other := rpc.Child("early") // as another RPC would have it
		fill(other.Arena(), 8, 1000)
		other.Delete()
		return reply, err
	}
	s := start(t, &memoryService{
		unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
			return wrapperspb.Bytes(fill(memctx.FromContext(ctx).Arena(), 7, 1000)), nil
		},
	}, havengrpc.Config{}, grpc.ChainUnaryInterceptor(early))
	whole := 0
	for range 10 {
		got, err := s.unary(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if intact(got, 7, 1000) == nil {
			whole++
		}
	}
	// The first memory may be too cold to be used again.
	if whole > 2 {
		t.Errorf("%d of 10 replies are intact though an interceptor took their memory back: it would do", whole)
	}
}

// TestCallbacks checks that the end of the context comes behind the reply, and
// before the end of the server.
func TestCallbacks(t *testing.T) {
	ended := make(chan struct{}, 1)
	s := start(t, &memoryService{
		unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
			memctx.FromContext(ctx).OnReset(func() { ended <- struct{}{} })
			return wrapperspb.Bytes(nil), nil
		},
	}, havengrpc.Config{}, limited...)
	for range 10 {
		if _, err := s.unary(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		testkit.Receive(t, "the callback ran", ended)
	}
}
