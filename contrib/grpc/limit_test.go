package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/arena"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// TestLimit checks what a client gets when a handler goes over a limit, in all
// ways, and that the server goes on.
func TestLimit(t *testing.T) {
	over := map[string]func(mc *memctx.Context) error{
		"panic": func(mc *memctx.Context) error {
			fill(mc.Arena(), 1, 1<<20)
			return nil
		},
		"wrapped panic": func(mc *memctx.Context) error {
			_, err := arena.TryMakeSlice[byte](mc.Arena(), 1<<20, 1<<20)
			panic(fmt.Errorf("search: %w", err))
		},
		"error": func(mc *memctx.Context) error {
			_, err := arena.TryMakeSlice[byte](mc.Arena(), 1<<20, 1<<20)
			return fmt.Errorf("search: %w", err)
		},
		"own status": func(mc *memctx.Context) error {
			_, err := arena.TryMakeSlice[byte](mc.Arena(), 1<<20, 1<<20)
			return fmt.Errorf("%w%w", status.Error(codes.InvalidArgument, "too large: "), err)
		},
		"nothing": func(mc *memctx.Context) error { return nil },
	}
	for _, c := range []struct {
		conf havengrpc.Config
		text string
	}{
		{havengrpc.Config{RPCLimit: 64 << 10}, "memory limit of the RPC"},
		{havengrpc.Config{ConnLimit: 64 << 10}, "memory limit of the server"},
	} {
		t.Run(c.text, func(t *testing.T) {
			s := start(t, &memoryService{
				unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
					return wrapperspb.Bytes(nil), over[string(in)](memctx.FromContext(ctx))
				},
				stream: func(stream grpc.ServerStream) error {
					var in wrapperspb.BytesValue
					if err := stream.RecvMsg(&in); err != nil {
						return err
					}
					return over[string(in.Value)](memctx.FromContext(stream.Context()))
				},
			}, c.conf, limited...)
			for what := range over {
				want := status.Error(codes.ResourceExhausted, c.text)
				switch what {
				case "own status":
					want = status.Error(codes.InvalidArgument, "")
				case "nothing":
					want = nil
				}
				_, err := s.unary(context.Background(), []byte(what))
				if !same(err, want) {
					t.Errorf("%s in a unary RPC: %v, want %v", what, err, want)
				}
				stream := s.open(t, context.Background(), "Both")
				stream.SendMsg(wrapperspb.Bytes([]byte(what)))
				err = stream.RecvMsg(new(wrapperspb.BytesValue))
				if want != nil && !same(err, want) {
					t.Errorf("%s in a stream: %v, want %v", what, err, want)
				}
			}
		})
	}
}

// same reports whether an error has the code of another, and its text if it has one.
func same(err, want error) bool {
	a, b := status.Convert(err), status.Convert(want)
	return a.Code() == b.Code() && (b.Message() == "" || a.Message() == b.Message())
}

// TestPanic checks that another panic goes on as it was, and that the memory of a
// handler which panicked is left to the garbage collector: a goroutine that it
// would have waited for may be at it still.
func TestPanic(t *testing.T) {
	for _, value := range []any{"oops", errors.New("oops")} {
		t.Run(fmt.Sprintf("%T", value), func(t *testing.T) {
			l := newLatecomer()
			recovered := make(chan any, 1)
			s := start(t, &memoryService{unary: func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
				go l.run(ctx)
				<-l.filled
				panic(value)
			}}, havengrpc.Config{}, grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (_ any, err error) {
				defer func() {
					recovered <- recover()
					err = status.Error(codes.Internal, "panic")
				}()
				return handler(ctx, req)
			}, havengrpc.UnaryServerInterceptor))
			before := names("rpc")
			if _, err := s.unary(context.Background(), nil); status.Code(err) != codes.Internal {
				t.Errorf("error is %v", err)
			}
			if got := <-recovered; got != value {
				t.Errorf("panic(%v) went on as %v", value, got)
			}
			testkit.Until(t, "the RPC has ended", func() bool { return names("rpc").Abandoned > before.Abandoned })
			churn(s.root)
			close(l.goOn)
			if err := <-l.result; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInterceptorsAlone has the interceptors see to a limit in a server without
// memory contexts.
func TestInterceptorsAlone(t *testing.T) {
	_, err := havengrpc.UnaryServerInterceptor(context.Background(), nil, nil, func(context.Context, any) (any, error) {
		return nil, arena.ErrLimit // which is what a LimitError is, and none itself
	})
	if !errors.Is(err, arena.ErrLimit) {
		t.Errorf("error is %v", err)
	}
	_, err = havengrpc.UnaryServerInterceptor(context.Background(), nil, nil, func(context.Context, any) (any, error) {
		return fill(arena.NewArena(arena.Config{Limit: 1000}), 1, 10_000), nil
	})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error is %v", err)
	}
}

func TestMisuse(t *testing.T) {
	testkit.PanicText(t, "havengrpc: Config.RPCLimit is -1: want a number of bytes, 0 (no bound) or more",
		func() { havengrpc.NewStatsHandler(havengrpc.Config{RPCLimit: -1}) })
	testkit.PanicText(t, "havengrpc: Config.ConnLimit is -1: want a number of bytes, 0 (no bound) or more",
		func() { havengrpc.NewStatsHandler(havengrpc.Config{ConnLimit: -1}) })
}

// TestBehindNetHTTP has a server's RPCs come through net/http, whose requests have
// contexts of their own.
func TestBehindNetHTTP(t *testing.T) {
	paths := make(chan string, 1)
	srv := grpc.NewServer(grpc.StatsHandler(havengrpc.NewStatsHandler()), limited[0], limited[1])
	srv.RegisterService((&memoryService{unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
		var names string
		for mc := memctx.FromContext(ctx); mc != nil; mc = mc.Parent() {
			names = "/" + mc.Name() + names
		}
		paths <- names
		return reply(memctx.FromContext(ctx), in), nil
	}}).description(), nil)
	root := memctx.New("server")
	defer func() {
		testkit.Until(t, "the RPCs have ended", func() bool { return names("grpc").Live == 0 })
		verifyNone(t, root)
	}()
	ts := httptest.NewUnstartedServer(http.HandlerFunc(srv.ServeHTTP))
	ts.EnableHTTP2 = true
	memhttp.Wrap(ts.Config, memhttp.Config{Parent: root})
	ts.StartTLS()
	client, err := grpc.NewClient(ts.Listener.Addr().String(),
		grpc.WithTransportCredentials(credentials.NewTLS(ts.Client().Transport.(*http.Transport).TLSClientConfig)))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range lengths {
		got, err := (&server{ClientConn: client}).unary(context.Background(), ask(i, n))
		if err == nil {
			err = intact(got, i, n)
		}
		if err != nil {
			t.Error(err)
		}
		if got := testkit.Receive(t, "the handler was called", paths); got != "/grpc/conn//haven.Memory/Unary" {
			t.Errorf("path is %s", got)
		}
	}
	client.Close()
	ts.Close()
	srv.Stop()
}
