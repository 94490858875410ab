package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A memoryService is what a test has its server do: a unary method, or a stream.
type memoryService struct {
	unary  func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error)
	stream func(stream grpc.ServerStream) error
}

// description returns the service's description by hand, as generated code would.
func (s *memoryService) description() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "haven.Memory",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
				var in wrapperspb.BytesValue
				if err := decode(&in); err != nil {
					return nil, err
				}
				handler := func(ctx context.Context, in any) (any, error) {
					return s.unary(ctx, in.(*wrapperspb.BytesValue).Value)
				}
				if interceptor == nil {
					return handler(ctx, &in)
				}
				return interceptor(ctx, &in, &grpc.UnaryServerInfo{Server: srv, FullMethod: "/haven.Memory/Unary"}, handler)
			},
		}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Both", ClientStreams: true, ServerStreams: true, Handler: s.serveStream},
			{StreamName: "In", ClientStreams: true, Handler: s.serveStream},
			{StreamName: "Out", ServerStreams: true, Handler: s.serveStream},
		},
	}
}

func (s *memoryService) serveStream(_ any, stream grpc.ServerStream) error { return s.stream(stream) }

// A server is one on the loopback interface with a root of its own, and a client.
type server struct {
	*grpc.ClientConn
	root *memctx.Context
	grpc *grpc.Server
	addr string
}

// limited are the options of a server with the interceptors.
var limited = []grpc.ServerOption{
	grpc.ChainUnaryInterceptor(havengrpc.UnaryServerInterceptor),
	grpc.ChainStreamInterceptor(havengrpc.StreamServerInterceptor),
}

// start starts a server with memory contexts. When the test is over there must be
// none left.
func start(t *testing.T, s *memoryService, conf havengrpc.Config, more ...grpc.ServerOption) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	root := memctx.New("server")
	conf.Parent = root
	h := havengrpc.NewStatsHandler(conf)
	srv := grpc.NewServer(append([]grpc.ServerOption{grpc.StatsHandler(h), grpc.WaitForHandlers(true)}, more...)...)
	srv.RegisterService(s.description(), nil)
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(listener)
	}()
	client, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(h))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		srv.Stop()
		<-served
		verifyNone(t, root)
	})
	return &server{client, root, srv, listener.Addr().String()}
}

// verifyNone deletes a root when nothing is below it any more, and checks that no
// context is left.
func verifyNone(t *testing.T, root *memctx.Context) {
	t.Helper()
	testkit.Until(t, "the contexts of a server have ended", func() bool { return root.Stats().Contexts == 1 })
	root.Delete()
	check.VerifyNone(t)
}

// unary makes a call.
func (s *server) unary(ctx context.Context, in []byte) ([]byte, error) {
	var out wrapperspb.BytesValue
	err := s.Invoke(ctx, "/haven.Memory/Unary", wrapperspb.Bytes(in), &out)
	return out.Value, err
}

// open opens a stream.
func (s *server) open(t *testing.T, ctx context.Context, method string) grpc.ClientStream {
	t.Helper()
	stream, err := s.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/haven.Memory/"+method)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// names returns the numbers of the contexts of a name, which differences are
// taken of.
func names(name string) memctx.NameStats {
	if name == "rpc" { // those of all methods
		var all memctx.NameStats
		for s := range memctx.Names() {
			if strings.HasPrefix(s.Name, "/haven.Memory/") {
				all.Live += s.Live
				all.Abandoned += s.Abandoned
				all.Warm.Hits += s.Warm.Hits
			}
		}
		return all
	}
	for s := range memctx.Names() {
		if s.Name == name {
			return s
		}
	}
	return memctx.NameStats{}
}

// fill returns bytes of an arena with a pattern.
func fill(a *arena.Arena, seed, n int) []byte {
	b := arena.MakeSlice[byte](a, n, n)
	pattern(b, seed)
	return b
}

func pattern(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i>>8 ^ i*7 ^ seed*131 | 1) // never 0, which is what Reset leaves
	}
}

// intact reports whether bytes have the pattern of fill.
func intact(b []byte, seed, n int) error {
	if len(b) != n {
		return fmt.Errorf("%d bytes of pattern %d are %d", n, seed, len(b))
	}
	want := make([]byte, n)
	pattern(want, seed)
	for i := range b {
		if b[i] != want[i] {
			return fmt.Errorf("of %d bytes of pattern %d, byte %d is %#x, want %#x", n, seed, i, b[i], want[i])
		}
	}
	return nil
}

// churn uses warm memory: that of an RPC which has ended is the next one's.
func churn(root *memctx.Context) {
	for range 50 {
		for _, name := range []string{"rpc", "conn", "message"} {
			mc := root.Child(name)
			fill(mc.Arena(), 0xdd, 16<<10)
			mc.Delete()
		}
	}
}

// TestTree checks where the contexts are, and that a client opens none.
func TestTree(t *testing.T) {
	var mu sync.Mutex
	parents := map[*memctx.Context]bool{}
	look := func(ctx context.Context, want string) {
		mc := memctx.FromContext(ctx)
		mu.Lock()
		parents[mc.Parent()] = true
		mu.Unlock()
		if got := mc.Path(); got != want {
			t.Errorf("path is %s, want %s", got, want)
		}
		if r, c := mc.Stats(), mc.Parent().Stats(); r.Limit != 1000 || c.Limit != 2000 {
			t.Errorf("limits are %d and %d, want 1000 and 2000", r.Limit, c.Limit)
		}
		if n := names("rpc").Live; n != 1 {
			t.Errorf("%d RPCs have a context", n)
		}
	}
	var client string
	s := start(t, &memoryService{
		unary: func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
			client = memctx.FromContext(ctx).Parent().Ident()
			look(ctx, "server/conn["+client+"]//haven.Memory/Unary")
			return wrapperspb.Bytes(nil), nil
		},
		stream: func(stream grpc.ServerStream) error {
			look(stream.Context(), "server/conn["+client+"]//haven.Memory/Both")
			return nil
		},
	}, havengrpc.Config{RPCLimit: 1000, ConnLimit: 2000})
	for range 3 {
		if _, err := s.unary(context.Background(), nil); err != nil {
			t.Error(err)
		}
		testkit.Until(t, "the RPC has ended", func() bool { return names("rpc").Live == 0 })
	}
	stream := s.open(t, context.Background(), "Both")
	if err := stream.RecvMsg(new(wrapperspb.BytesValue)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, _, err := net.SplitHostPort(client); err != nil || len(parents) != 1 {
		t.Errorf("4 RPCs are of %d connections, the last of %q", len(parents), client)
	}
	testkit.Until(t, "the RPC has ended", func() bool { return s.root.Stats().Contexts == 2 })
}

// TestUnknownMethod checks that an RPC for which gRPC reports a begin of nothing,
// and no end, leaves nothing behind.
func TestUnknownMethod(t *testing.T) {
	s := start(t, &memoryService{}, havengrpc.Config{})
	for _, method := range []string{"/haven.Memory/None", "/haven.None/None", "/none"} {
		err := s.Invoke(context.Background(), method, wrapperspb.Bytes(nil), new(wrapperspb.BytesValue))
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("%s: %v", method, err)
		}
	}
	if n := s.root.Stats().Contexts; n != 2 {
		t.Errorf("%d contexts, want the root and the connection's", n)
	}
}

// TestWithout checks what code that asks for memory gets without a context.
func TestWithout(t *testing.T) {
	if mc := havengrpc.EachMessage(context.Background()); mc != nil {
		t.Errorf("EachMessage is %v", mc)
	}
	// A client's RPC is tagged, and has none.
	h := havengrpc.NewStatsHandler()
	mc := memctx.New("caller")
	defer mc.Delete()
	ctx := h.TagRPC(memctx.With(context.Background(), mc), new(stats.RPCTagInfo))
	if got := memctx.FromContext(ctx); got != mc {
		t.Errorf("the context of a client's RPC is %v", got)
	}
	if got := havengrpc.EachMessage(ctx); got != nil {
		t.Errorf("EachMessage of a client's RPC is %v", got)
	}
}

// TestDefaultRoot checks the context above those who name no parent, and that a
// server with two handlers ends what each of them opened.
func TestDefaultRoot(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer(grpc.WaitForHandlers(true),
		grpc.StatsHandler(havengrpc.NewStatsHandler()), grpc.StatsHandler(havengrpc.NewStatsHandler()))
	paths := make(chan string, 1)
	srv.RegisterService((&memoryService{unary: func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
		mc := memctx.FromContext(ctx)
		paths <- mc.Name() + " " + mc.Parent().Name() + " " + mc.Parent().Parent().Name()
		return wrapperspb.Bytes(nil), nil
	}}).description(), nil)
	go srv.Serve(listener)
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&server{ClientConn: client}).unary(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if got := testkit.Receive(t, "the handler was called", paths); got != "/haven.Memory/Unary conn grpc" {
		t.Errorf("the contexts are %s", got)
	}
	client.Close()
	srv.Stop()
	testkit.Until(t, "all contexts have ended", func() bool { return names("grpc").Live == 0 })
	check.VerifyNone(t)
}
