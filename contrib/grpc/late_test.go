package havengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/haven-mem/haven/arena"
	havengrpc "github.com/haven-mem/haven/contrib/grpc"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// lates are what handlers make of an RPC's memory and gRPC reads after its end. text
// makes a string there.
var lates = []struct {
	name string
	do   func(ctx context.Context, text func(string) string) error
	want string // of the answer: see seen
}{
	{"header", func(ctx context.Context, text func(string) string) error {
		return grpc.SetHeader(ctx, metadata.MD{text("x-key"): {text("value")}})
	}, "header x-key=value"},
	{"header name", func(ctx context.Context, text func(string) string) error {
		return grpc.SetHeader(ctx, metadata.MD{text("x-key"): {"value"}})
	}, "header x-key=value"},
	{"sent header", func(ctx context.Context, text func(string) string) error {
		return errors.Join(grpc.SetHeader(ctx, metadata.Pairs("x-first", text("first"))), grpc.SendHeader(ctx, metadata.Pairs("x-key", text("value"))))
	}, "header x-first=first; header x-key=value"},
	{"trailer", func(ctx context.Context, text func(string) string) error {
		return grpc.SetTrailer(ctx, metadata.MD{"x-key": {text("value")}})
	}, "trailer x-key=value"},
	{"trailer name", func(ctx context.Context, text func(string) string) error {
		return grpc.SetTrailer(ctx, metadata.MD{text("x-key"): {"value"}})
	}, "trailer x-key=value"},
	{"compressor", func(ctx context.Context, text func(string) string) error {
		return grpc.SetSendCompressor(ctx, text("gzip"))
	}, ""},
	{"status", func(ctx context.Context, text func(string) string) error {
		return status.Error(codes.NotFound, text("no such thing"))
	}, "NotFound no such thing"},
	{"wrapped status", func(ctx context.Context, text func(string) string) error {
		return fmt.Errorf("find: %w", status.Error(codes.NotFound, text("no such thing")))
	}, "NotFound find: rpc error: code = NotFound desc = no such thing"},
	{"error", func(ctx context.Context, text func(string) string) error {
		return errors.New(text("no such thing"))
	}, "Unknown no such thing"},
	{"details", func(ctx context.Context, text func(string) string) error {
		s, err := status.New(codes.NotFound, "no").WithDetails(wrapperspb.String("detail"))
		if err != nil {
			return err
		}
		p := s.Proto()
		p.Details[0].TypeUrl = text(p.Details[0].TypeUrl)
		return status.ErrorProto(p)
	}, `NotFound no; detail value:"detail"`},
}

// seen returns what a client got.
func seen(err error, header, trailer metadata.MD) string {
	var all []string
	if s := status.Convert(err); err != nil {
		all = append(all, s.Code().String()+" "+s.Message())
		for _, d := range s.Details() {
			all = append(all, fmt.Sprint("detail ", d))
		}
	}
	list := func(what string, md metadata.MD) {
		for _, key := range []string{"x-first", "x-key"} {
			if values := md.Get(key); len(values) > 0 {
				all = append(all, what+" "+key+"="+strings.Join(values, ","))
			}
		}
	}
	list("header", header)
	list("trailer", trailer)
	return strings.Join(all, "; ")
}

// foreign uses warm memory for text, as other RPCs do.
func foreign(root *memctx.Context) {
	for range 4 {
		for _, name := range []string{"/haven.Memory/Unary", "/haven.Memory/Both", "/haven.Memory/In", "/haven.Memory/Out", "message", "query"} {
			mc := root.Child(name)
			for range 100 {
				arena.String(mc.Arena(), "foreign! ")
			}
			mc.Delete()
		}
	}
}

// A gate is a listener whose connections stop writing while it is shut.
type gate struct {
	net.Listener
	mu   sync.Mutex
	open chan struct{} // nil: open
	met  chan struct{} // a Write waits
}

type gated struct {
	net.Conn
	g *gate
}

func (g *gate) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	return gated{c, g}, err
}

func (c gated) Write(p []byte) (int, error) {
	c.g.mu.Lock()
	open := c.g.open
	c.g.mu.Unlock()
	if open != nil {
		select {
		case c.g.met <- struct{}{}:
		default:
		}
		<-open
	}
	return c.Conn.Write(p)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) let() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = nil
}

// after is a stats.Handler behind that of the memory, which has the status still.
type after struct {
	ended chan string
}

func (after) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (after) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (after) HandleConn(context.Context, stats.ConnStats)                       {}
func (a after) HandleRPC(_ context.Context, s stats.RPCStats) {
	if s, ok := s.(*stats.End); ok {
		a.ended <- seen(s.Error, nil, nil)
	}
}

// A lateServer has one connection, whose writer can be made to wait: what is to be
// written after shut is encoded when the gate is open again.
type lateServer struct {
	*server
	gate  *gate
	after after
	send  chan struct{}
}

// startLate starts a server for unary, and for stream as its method "Both".
func startLate(t *testing.T, unary func(context.Context, []byte) (*wrapperspb.BytesValue, error), stream func(grpc.ServerStream) error) *lateServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &lateServer{
		gate:  &gate{Listener: listener, met: make(chan struct{}, 1)},
		after: after{make(chan string, 16)},
		send:  make(chan struct{}),
	}
	root := memctx.New("server")
	srv := grpc.NewServer(grpc.StatsHandler(havengrpc.NewStatsHandler(havengrpc.Config{Parent: root})), grpc.StatsHandler(s.after))
	srv.RegisterService((&memoryService{unary, func(ss grpc.ServerStream) error {
		if method, _ := grpc.Method(ss.Context()); strings.HasSuffix(method, "/Both") {
			return stream(ss)
		}
		ss.SendHeader(nil)
		<-s.send
		return ss.SendMsg(wrapperspb.Bytes(nil))
	}}).description(), nil)
	go srv.Serve(s.gate)
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		srv.Stop()
		verifyNone(t, root)
	})
	s.server = &server{ClientConn: client, root: root, grpc: srv}
	return s
}

// shut makes the connection's writer wait, in the answer to a stream.
func (s *lateServer) shut(t *testing.T) {
	t.Helper()
	stream := s.open(t, context.Background(), "Out")
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	s.gate.shut()
	close(s.send)
	testkit.Receive(t, "the connection's writer waits", s.gate.met)
	testkit.Receive(t, "the stream has ended", s.after.ended)
}

// TestReadLate has the connection's writer wait while RPCs end and others use their
// memory. What it writes after that must be what the handlers said.
func TestReadLate(t *testing.T) {
	for place, of := range map[string]func(mc *memctx.Context) *memctx.Context{
		"rpc":   func(mc *memctx.Context) *memctx.Context { return mc },
		"query": func(mc *memctx.Context) *memctx.Context { return mc.Child("query") },
	} {
		for _, c := range lates {
			t.Run(c.name+" in "+place, func(t *testing.T) {
				s := startLate(t, func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
					mc := of(memctx.FromContext(ctx))
					return wrapperspb.Bytes(nil), c.do(ctx, func(s string) string { return arena.String(mc.Arena(), s) })
				}, nil)
				s.shut(t)
				result := make(chan string, 1)
				go func() {
					var header, trailer metadata.MD
					_, err := callWith(s.server, grpc.Header(&header), grpc.Trailer(&trailer))
					result <- seen(err, header, trailer)
				}()
				ended := testkit.Receive(t, "the RPC has ended", s.after.ended)
				foreign(s.root)
				s.gate.let()
				if got := testkit.Receive(t, "the answer is there", result); got != c.want {
					t.Errorf("the client got %q, want %q", got, c.want)
				}
				if c.name == "status" && ended != c.want {
					t.Errorf("a stats.Handler got %q, want %q", ended, c.want)
				}
			})
		}
	}
}

// TestReadLateOfMessage does the same for the memory of a stream's messages, which is
// taken back before the RPC's.
func TestReadLateOfMessage(t *testing.T) {
	goOn := make(chan struct{})
	s := startLate(t, nil, func(stream grpc.ServerStream) error {
		text := func(s string) string {
			return arena.String(havengrpc.EachMessage(stream.Context()).Arena(), s)
		}
		recv := func() error { return stream.RecvMsg(new(wrapperspb.BytesValue)) }
		err := recv()
		<-goOn
		return errors.Join(err,
			stream.SendHeader(metadata.MD{text("x-key"): {text("header")}}), recv(),
			grpc.SetTrailer(stream.Context(), metadata.MD{text("x-first"): {text("first")}}), recv(),
			grpc.SetTrailer(stream.Context(), metadata.MD{text("x-key"): {text("trailer")}}))
	})
	stream := s.open(t, context.Background(), "Both")
	for range 3 {
		if err := stream.SendMsg(wrapperspb.Bytes(nil)); err != nil {
			t.Fatal(err)
		}
	}
	s.shut(t)
	close(goOn)
	testkit.Receive(t, "the RPC has ended", s.after.ended)
	foreign(s.root)
	s.gate.let()
	header, err := stream.Header()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(wrapperspb.BytesValue)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	want := "header x-key=header; trailer x-first=first; trailer x-key=trailer"
	if got := seen(nil, header, stream.Trailer()); got != want {
		t.Errorf("the client got %q, want %q", got, want)
	}
}

// TestReadLateTogether has many RPCs of one connection at the same time, with header,
// trailer and status in their memory and the number of the RPC in each. No client
// must see another's.
func TestReadLateTogether(t *testing.T) {
	s := start(t, &memoryService{unary: func(ctx context.Context, in []byte) (*wrapperspb.BytesValue, error) {
		a := memctx.FromContext(ctx).Arena()
		text := func() string { return arena.String(a, in) }
		err := errors.Join(grpc.SetHeader(ctx, metadata.MD{"x-key": {text()}}), grpc.SetTrailer(ctx, metadata.MD{"x-key": {text()}}))
		if err == nil && len(in)%2 == 0 {
			err = status.Error(codes.NotFound, text())
		}
		return wrapperspb.Bytes(in), err
	}}, havengrpc.Config{}, limited...)
	const workers = 32
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range rounds {
				id := fmt.Sprintf("%d of %s%d", round, strings.Repeat(" ", worker%2), worker)
				want := fmt.Sprintf("header x-key=%s; trailer x-key=%[1]s", id)
				if len(id)%2 == 0 {
					want = "NotFound " + id + "; " + want
				}
				var header, trailer metadata.MD
				var out wrapperspb.BytesValue
				err := s.Invoke(context.Background(), "/haven.Memory/Unary", wrapperspb.Bytes([]byte(id)), &out, grpc.Header(&header), grpc.Trailer(&trailer))
				if got := seen(err, header, trailer); got != want {
					t.Errorf("RPC %s: the client got %q, want %q", id, got, want)
					return
				}
			}
		}()
	}
	wg.Wait()
}

// callWith is unary with options.
func callWith(s *server, opts ...grpc.CallOption) ([]byte, error) {
	var out wrapperspb.BytesValue
	err := s.Invoke(context.Background(), "/haven.Memory/Unary", wrapperspb.Bytes(nil), &out, opts...)
	return out.Value, err
}

// TestReadLateBehindNetHTTP does the same for a server behind net/http, where another
// goroutine takes over what goes with a status, and net/http writes it later still.
func TestReadLateBehindNetHTTP(t *testing.T) {
	for _, c := range lates {
		if c.name == "sent header" || c.name == "compressor" { // is sent before the end; is not for such a server
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			root := memctx.New("server")
			a := after{make(chan string, 1)}
			srv := grpc.NewServer(grpc.StatsHandler(havengrpc.NewStatsHandler(havengrpc.Config{Parent: root})), grpc.StatsHandler(a))
			srv.RegisterService((&memoryService{
				unary: func(ctx context.Context, _ []byte) (*wrapperspb.BytesValue, error) {
					mc := memctx.FromContext(ctx)
					err := c.do(ctx, func(s string) string { return arena.String(mc.Arena(), s) })
					if err == nil {
						err = status.Error(codes.Aborted, "end")
					}
					return nil, err
				},
			}).description(), nil)
			ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				srv.ServeHTTP(&lateWriter{w, sync.OnceFunc(func() {
					<-a.ended
					foreign(root)
				})}, r)
			}))
			ts.EnableHTTP2 = true
			ts.StartTLS()
			client, err := grpc.NewClient(ts.Listener.Addr().String(),
				grpc.WithTransportCredentials(credentials.NewTLS(ts.Client().Transport.(*http.Transport).TLSClientConfig)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				client.Close()
				ts.Close()
				srv.Stop()
				verifyNone(t, root)
			}()
			var header, trailer metadata.MD
			_, err = callWith(&server{ClientConn: client}, grpc.Header(&header), grpc.Trailer(&trailer))
			want := c.want
			if strings.Contains(want, "x-key") || want == "" {
				want = strings.TrimSuffix("Aborted end; "+want, "; ")
			}
			if got := seen(err, header, trailer); got != want {
				t.Errorf("the client got %q, want %q", got, want)
			}
		})
	}
}

// lateWriter is a ResponseWriter whose header gRPC gets only when late has returned.
type lateWriter struct {
	http.ResponseWriter
	late func()
}

func (w *lateWriter) Header() http.Header {
	w.late()
	return w.ResponseWriter.Header()
}

func (w *lateWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }
