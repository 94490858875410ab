package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// TestEachMessage has a stream of each kind carry far more than its limit, with
// what lasts for the whole stream in the RPC's own memory. It also checks that
// memory is taken back at the right time, and not before.
func TestEachMessage(t *testing.T) {
	const messages, size = 200, 16 << 10
	// next makes the memory for message i, and checks that of the one before.
	type state struct {
		each  *memctx.Context
		total []byte // of the stream
	}
	begin := func(stream grpc.ServerStream) (*state, error) {
		mc, each := memctx.FromContext(stream.Context()), havengrpc.EachMessage(stream.Context())
		if each == nil || each.Parent() != mc || each != havengrpc.EachMessage(stream.Context()) {
			return nil, fmt.Errorf("EachMessage is %v below %v", each, mc)
		}
		return &state{each, fill(mc.Arena(), 99, 1000)}, nil
	}
	resets := func(s *state, want int) error {
		if got := s.each.Stats().Resets; got != uint64(want) {
			return fmt.Errorf("the memory was reset %d times, want %d", got, want)
		}
		return intact(s.total, 99, 1000)
	}
	kinds := map[string]func(stream grpc.ServerStream) error{
		"Both": func(stream grpc.ServerStream) error { // two replies for each message
			s, err := begin(stream)
			if err != nil {
				return err
			}
			for i := 0; ; i++ {
				if err := stream.RecvMsg(new(wrapperspb.BytesValue)); errors.Is(err, io.EOF) {
					return resets(s, messages)
				} else if err != nil {
					return err
				}
				b := fill(s.each.Arena(), i, size)
				for range 2 {
					if err := errors.Join(stream.SendMsg(wrapperspb.Bytes(b)), intact(b, i, size), resets(s, i+1)); err != nil {
						return err
					}
				}
			}
		},
		"In": func(stream grpc.ServerStream) error {
			s, err := begin(stream)
			if err != nil {
				return err
			}
			for i := 0; ; i++ {
				if err := stream.RecvMsg(new(wrapperspb.BytesValue)); errors.Is(err, io.EOF) {
					return errors.Join(resets(s, messages), stream.SendMsg(wrapperspb.Bytes(fill(s.each.Arena(), 0, size))))
				} else if err != nil {
					return err
				}
				if err := errors.Join(intact(fill(s.each.Arena(), i, size), i, size), resets(s, i+1)); err != nil {
					return err
				}
			}
		},
		"Out": func(stream grpc.ServerStream) error {
			s, err := begin(stream)
			if err != nil {
				return err
			}
			if err := stream.RecvMsg(new(wrapperspb.BytesValue)); err != nil {
				return err
			}
			for i := range messages {
				if err := errors.Join(resets(s, i), stream.SendMsg(wrapperspb.Bytes(fill(s.each.Arena(), i, size)))); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for method, handler := range kinds {
		t.Run(method, func(t *testing.T) {
			s := start(t, &memoryService{stream: handler}, havengrpc.Config{RPCLimit: 1 << 20}, limited...)
			stream := s.open(t, context.Background(), method)
			in, replies := messages, messages
			switch method {
			case "Both":
				replies = 2 * messages
			case "In":
				replies = 1
			case "Out":
				in = 1
			}
			sent := make(chan error, 1)
			go func() {
				for range in {
					if err := stream.SendMsg(wrapperspb.Bytes(nil)); err != nil {
						break // RecvMsg has the reason
					}
				}
				sent <- stream.CloseSend()
			}()
			for i := range replies {
				var out wrapperspb.BytesValue
				if err := stream.RecvMsg(&out); err != nil {
					t.Fatal(err)
				}
				seed := i
				if method == "Both" {
					seed = i / 2
				}
				if err := intact(out.Value, seed, size); err != nil {
					t.Fatal(err)
				}
			}
			if err := stream.RecvMsg(new(wrapperspb.BytesValue)); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			if err := testkit.Receive(t, "all is sent", sent); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEachMessageUnary checks that a unary RPC resets nothing by itself.
func TestEachMessageUnary(t *testing.T) {
	before := names("message")
	resets := make(chan uint64, 1)
	s := start(t, &memoryService{unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
		each := havengrpc.EachMessage(ctx)
		memctx.FromContext(ctx).OnReset(func() { resets <- each.Stats().Resets })
		return wrapperspb.Bytes(fill(each.Arena(), 1, 100)), nil
	}}, havengrpc.Config{})
	got, err := s.unary(context.Background(), nil)
	if err == nil {
		err = intact(got, 1, 100)
	}
	if err != nil {
		t.Error(err)
	}
	if n := testkit.Receive(t, "the RPC has ended", resets); n != 0 {
		t.Errorf("its memory was reset %d times", n)
	}
	if n := names("message").Created - before.Created; n != 1 {
		t.Errorf("%d contexts were made", n)
	}
}
