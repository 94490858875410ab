package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/check"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A latecomer is what a handler does that outlives its deadline: it fills its
// memory, waits until it is told to go on, and looks whether the memory is as it
// was.
type latecomer struct {
	filled chan context.Context
	goOn   chan struct{}
	result chan error
}

func newLatecomer() *latecomer {
	return &latecomer{make(chan context.Context, 1), make(chan struct{}), make(chan error, 1)}
}

func (l *latecomer) run(ctx context.Context) {
	mc := memctx.FromContext(ctx)
	b := fill(mc.Arena(), 7, 10_000)
	l.filled <- ctx
	<-l.goOn
	l.result <- errors.Join(intact(b, 7, 10_000), intact(fill(mc.Arena(), 8, 10_000), 8, 10_000), intact(b, 7, 10_000))
}

func (l *latecomer) unary(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
	l.run(ctx)
	return wrapperspb.Bytes(nil), nil
}

func (l *latecomer) stream(stream grpc.ServerStream) error {
	l.run(stream.Context())
	return nil
}

// TestDeadline has the client's deadline go by, or the client cancel, while the
// handler runs. gRPC lets it run to its end, and reports the end after that: the
// context is there, and nobody else gets its memory.
func TestDeadline(t *testing.T) {
	for _, interceptors := range []bool{false, true} {
		for _, cancelled := range []bool{false, true} {
			for _, streams := range []bool{false, true} {
				t.Run(fmt.Sprintf("interceptors=%v/cancelled=%v/stream=%v", interceptors, cancelled, streams), func(t *testing.T) {
					testDeadline(t, interceptors, cancelled, streams)
				})
			}
		}
	}
}

func testDeadline(t *testing.T, interceptors, cancelled, streams bool) {
	var opts []grpc.ServerOption
	if interceptors {
		opts = limited
	}
	l := newLatecomer()
	s := start(t, &memoryService{l.unary, l.stream}, havengrpc.Config{}, opts...)
	before := names("rpc")
	call := func(ctx context.Context) error {
		if !streams {
			_, err := s.unary(ctx, nil)
			return err
		}
		stream, err := s.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/haven.Memory/Both")
		if err == nil {
			err = stream.RecvMsg(new(wrapperspb.BytesValue))
		}
		return err
	}
	var cancel context.CancelFunc
	var answered chan error
	var handler context.Context // that of the server
	for timeout := 50 * time.Millisecond; handler == nil; timeout *= 4 {
		var ctx context.Context
		if cancelled {
			ctx, cancel = context.WithCancel(context.Background())
		} else {
			ctx, cancel = context.WithTimeout(context.Background(), timeout)
		}
		defer cancel()
		answered = make(chan error, 1)
		go func() { answered <- call(ctx) }()
		select {
		case handler = <-l.filled:
		case <-answered: // too slow a machine: the deadline came before the handler
		}
	}
	want := codes.DeadlineExceeded
	if cancelled {
		cancel()
		want = codes.Canceled
	}
	if err := testkit.Receive(t, "the client has an answer", answered); status.Code(err) != want {
		t.Errorf("%v, want %v", err, want)
	}
	testkit.Receive(t, "the server knows", handler.Done())
	churn(s.root)
	if n := s.root.Stats().Contexts; n != 3 {
		t.Errorf("%d contexts while the handler runs, want 3", n)
	}
	close(l.goOn)
	if err := testkit.Receive(t, "the handler has ended", l.result); err != nil {
		t.Error(err)
	}
	testkit.Until(t, "the RPC has ended", func() bool { return s.root.Stats().Contexts <= 2 })
	abandoned := uint64(0)
	if interceptors { // which have seen that the context.Context was over
		abandoned = 1
	}
	if n := names("rpc").Abandoned - before.Abandoned; n != abandoned {
		t.Errorf("%d RPCs were abandoned, want %d", n, abandoned)
	}
}

// TestConnGone has the client's connection break while the handler runs, whose
// context lasts as long.
func TestConnGone(t *testing.T) {
	l := newLatecomer()
	s := start(t, &memoryService{unary: func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
		above := fill(memctx.FromContext(ctx).Parent().Arena(), 9, 10_000)
		l.run(ctx)
		return wrapperspb.Bytes(nil), intact(above, 9, 10_000)
	}}, havengrpc.Config{}, limited...)
	answered := make(chan error, 1)
	go func() {
		_, err := s.unary(context.Background(), nil)
		answered <- err
	}()
	testkit.Receive(t, "the handler has filled its memory", l.filled)
	s.Close()
	if err := testkit.Receive(t, "the client has an answer", answered); err == nil {
		t.Error("the client got a reply")
	}
	churn(s.root)
	if n := s.root.Stats().Contexts; n != 3 {
		t.Errorf("%d contexts while the handler runs, want 3", n)
	}
	close(l.goOn)
	if err := testkit.Receive(t, "the handler has ended", l.result); err != nil {
		t.Error(err)
	}
}

// TestDeleteUnderHandler deletes the parent while handlers run, one of them with a
// context for each message, as a program does whose server was stopped and does not
// wait for them.
func TestDeleteUnderHandler(t *testing.T) {
	l, m := newLatecomer(), newLatecomer()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	root := memctx.New("server")
	srv := grpc.NewServer(grpc.StatsHandler(havengrpc.NewStatsHandler(havengrpc.Config{Parent: root})))
	srv.RegisterService((&memoryService{l.unary, func(stream grpc.ServerStream) error {
		m.run(memctx.With(stream.Context(), havengrpc.EachMessage(stream.Context())))
		return nil
	}}).description(), nil)
	go srv.Serve(listener)
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := &server{ClientConn: client}
	go s.unary(context.Background(), nil)
	s.open(t, context.Background(), "Both")
	testkit.Receive(t, "a handler has filled its memory", l.filled)
	testkit.Receive(t, "a handler has filled its memory", m.filled)
	srv.Stop()
	root.Delete()
	for range 50 {
		for _, name := range []string{"rpc", "conn", "message"} {
			mc := memctx.New(name)
			fill(mc.Arena(), 0xdd, 16<<10)
			mc.Delete()
		}
	}
	for _, x := range []*latecomer{l, m} {
		close(x.goOn)
		if err := testkit.Receive(t, "the handler has ended", x.result); err != nil {
			t.Error(err)
		}
	}
	testkit.Until(t, "the contexts have ended", func() bool {
		return names("server").Live+names("conn").Live+names("rpc").Live+names("message").Live == 0
	})
	check.VerifyNone(t)
}

// cutOff returns an interceptor that answers when a time is up, and lets the
// handler run, as gRPC itself does not. The time is up when l has its memory.
func cutOff(l *latecomer) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		go handler(ctx, req)
		<-l.filled
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// TestCutOff has an interceptor leave a handler behind. Its memory is not used
// again, and if it asks for it only now it gets none.
func TestCutOff(t *testing.T) {
	for name, chain := range map[string]func(l *latecomer) []grpc.UnaryServerInterceptor{
		"alone": func(l *latecomer) []grpc.UnaryServerInterceptor {
			return []grpc.UnaryServerInterceptor{cutOff(l)}
		},
		"inside": func(l *latecomer) []grpc.UnaryServerInterceptor {
			return []grpc.UnaryServerInterceptor{havengrpc.UnaryServerInterceptor, cutOff(l)}
		},
		"around": func(l *latecomer) []grpc.UnaryServerInterceptor {
			return []grpc.UnaryServerInterceptor{cutOff(l), havengrpc.UnaryServerInterceptor}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, late := newLatecomer(), make(chan [2]*memctx.Context, 1)
			s := start(t, &memoryService{unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
				l.run(ctx)
				late <- [2]*memctx.Context{memctx.FromContext(ctx), havengrpc.EachMessage(ctx)}
				return wrapperspb.Bytes(nil), nil
			}}, havengrpc.Config{}, grpc.ChainUnaryInterceptor(chain(l)...))
			before := names("rpc")
			if _, err := s.unary(context.Background(), nil); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("error is %v", err)
			}
			testkit.Until(t, "the RPC has ended", func() bool { return names("rpc").Abandoned > before.Abandoned })
			churn(s.root)
			close(l.goOn)
			if err := testkit.Receive(t, "the handler has ended", l.result); err != nil {
				t.Error(err)
			}
			if got := testkit.Receive(t, "the handler has asked", late); got[0] != nil || got[1] != nil {
				t.Errorf("after the end the handler got %v", got)
			}
		})
	}
}
