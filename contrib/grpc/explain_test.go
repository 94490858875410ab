//go:build haven_check

package havengrpc_test

import (
	"context"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// An order is what one RPC keeps and another one uses.
type order struct {
	id   int
	note string
}

// A handler that panics for what it read from released memory, faults included, has a
// report with its method, and the panic goes on to whoever recovers.
func TestExplained(t *testing.T) {
	var mu sync.Mutex
	var reports []*check.Report
	check.Handle(func(r *check.Report) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, r)
	})
	defer check.Handle(nil)
	var last *order
	use := func(ctx context.Context, what string) []byte {
		if debug.SetPanicOnFault(true) != true {
			t.Error("a fault in a handler is no panic")
		}
		switch what {
		case "keep":
			last = arena.New[order](memctx.FromContext(ctx).Arena())
			return nil
		case "note":
			return []byte(last.note)
		case "make":
			return make([]byte, last.id)
		case "panic":
			panic("oops")
		}
		last = nil // or it is a stale pointer
		return nil
	}
	var recovered any
	outside := func(v any, err *error) {
		recovered = v
		if debug.SetPanicOnFault(false) {
			t.Error("a fault is a panic behind the handler")
		}
		if v != nil {
			*err = status.Error(codes.Internal, "recovered")
		}
	}
	s := start(t, &memoryService{
		unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
			return wrapperspb.Bytes(use(ctx, string(in))), nil
		},
		stream: func(stream grpc.ServerStream) error {
			var in wrapperspb.BytesValue
			if err := stream.RecvMsg(&in); err != nil {
				return err
			}
			return stream.SendMsg(wrapperspb.Bytes(use(stream.Context(), string(in.Value))))
		},
	}, havengrpc.Config{},
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
			defer func() { outside(recover(), &err) }()
			return next(ctx, req)
		}, havengrpc.UnaryServerInterceptor),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			defer func() { outside(recover(), &err) }()
			return next(srv, stream)
		}, havengrpc.StreamServerInterceptor))
	ctx := context.Background()
	calls := map[string]func(in string) error{
		"/haven.Memory/Unary": func(in string) error {
			_, err := s.unary(ctx, []byte(in))
			return err
		},
		"/haven.Memory/Both": func(in string) error {
			stream := s.open(t, ctx, "Both")
			if err := stream.SendMsg(wrapperspb.Bytes([]byte(in))); err != nil {
				return err
			}
			if err := stream.CloseSend(); err != nil {
				return err
			}
			for out := new(wrapperspb.BytesValue); ; {
				if err := stream.RecvMsg(out); err != nil {
					return err
				}
			}
		},
	}
	for method, call := range calls {
		for _, c := range []struct{ in, what, panics string }{
			{"keep", "", ""},
			{"note", "use after release", "invalid memory address"},
			{"make", "perhaps a use after release", "makeslice"},
			{"panic", "", "oops"},
			{"forget", "", ""},
		} {
			err := call(c.in)
			testkit.Until(t, "the RPC's memory is released", func() bool { return s.root.Stats().Contexts <= 2 })
			if got := status.Code(err) == codes.Internal; got != (c.panics != "") {
				t.Errorf("%s of %s: %v", c.in, method, err)
			}
			text, _ := recovered.(string)
			if e, ok := recovered.(error); ok {
				text = e.Error()
			}
			if !strings.Contains(text, c.panics) {
				t.Errorf("%s of %s: the panic went on as %v", c.in, method, recovered)
			}
			mu.Lock()
			list := reports
			reports = nil
			mu.Unlock()
			if c.what == "" {
				if len(list) > 0 {
					t.Errorf("%s of %s: %v", c.in, method, list)
				}
				continue
			}
			if len(list) != 1 || list[0].What != c.what || list[0].Serving != method || !strings.Contains(list[0].Now, "explain_test.go") {
				t.Errorf("%s of %s: the reports are %v", c.in, method, list)
			}
		}
	}
}
