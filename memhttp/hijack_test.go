package memhttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// TestHijack has a goroutine go on with the connection and the request's memory
// after the handler has returned, with and without Wrap.
func TestHijack(t *testing.T) {
	for _, c := range []struct {
		name   string
		hijack func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error)
	}{
		{"Hijacker", func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) { return w.(http.Hijacker).Hijack() }},
		{"ResponseController", func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
			return http.NewResponseController(w).Hijack()
		}},
	} {
		for _, wrapped := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/wrapped=%v", c.name, wrapped), func(t *testing.T) {
				goOn := make(chan struct{})
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mc := memctx.FromContext(r.Context())
					list := fill(mc.Arena(), 7, 1000)
					above := fill(mc.Parent().Arena(), 9, 1000)
					nc, _, err := c.hijack(w)
					if err != nil {
						t.Error(err)
						return
					}
					go func() {
						defer nc.Close()
						<-goOn
						err := intact(list, 7, 1000)
						if err == nil {
							err = intact(above, 9, 1000)
						}
						if err == nil {
							err = intact(fill(mc.Arena(), 8, 1000), 8, 1000)
						}
						fmt.Fprintf(nc, "%v", err)
					}()
				})
				requests, conns := names("request"), names("conn")
				var addr net.Addr
				var root *memctx.Context
				if wrapped {
					s := serve(t, h)
					addr, root = s.Listener.Addr(), s.root
				} else {
					root = memctx.New("server")
					ts := httptest.NewServer(memhttp.Handler(h, memhttp.Config{Parent: root}))
					addr = ts.Listener.Addr()
					t.Cleanup(func() {
						ts.Close()
						verifyNone(t, root)
					})
				}
				nc, err := net.Dial("tcp", addr.String())
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				fmt.Fprintf(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				testkit.Until(t, "the handler has returned", func() bool {
					return root.Stats().Contexts == 1 && names("request").Abandoned > requests.Abandoned
				})
				if n := names("conn").Abandoned - conns.Abandoned; wrapped && n != 1 {
					t.Errorf("%d connections were abandoned", n)
				}
				churn(t, churner(root))
				churnConns(t, root)
				close(goOn)
				if answer, err := io.ReadAll(nc); err != nil || string(answer) != "<nil>" {
					t.Errorf("the goroutine answered %q, %v", answer, err)
				}
			})
		}
	}
}

// churnConns is churn for the memory of connections.
func churnConns(t *testing.T, root *memctx.Context) {
	for range 50 {
		c := root.Child("conn")
		fill(c.Arena(), 0xdead, 1000)
		c.Delete()
	}
}

// TestHijackInHandler checks that a handler that stays on its connection keeps its
// place in the tree and its limit meanwhile.
func TestHijackInHandler(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		nc, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		for {
			line, err := rw.ReadString('\n')
			if err != nil {
				return
			}
			list := fill(mc.Arena(), 7, 1000)
			fmt.Fprintf(rw, "%s%v %v\n", line, intact(list, 7, 1000), mc.Stats().Path)
			rw.Flush()
			mc.Reset()
		}
	}))
	nc, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	fmt.Fprintf(nc, "GET /chat HTTP/1.1\r\nHost: x\r\n\r\n")
	in := bufio.NewReader(nc)
	for range 10 {
		fmt.Fprintf(nc, "hello\n")
		in.ReadString('\n')
		got, err := in.ReadString('\n')
		if want := fmt.Sprintf("<nil> server/conn[%s]/request[/chat]\n", nc.LocalAddr()); err != nil || got != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
		if n := s.root.Stats().Contexts; n != 3 {
			t.Errorf("%d contexts, want 3", n)
		}
	}
}

// TestNoHijack checks that a writer which cannot be hijacked does not look as if.
func TestNoHijack(t *testing.T) {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := w.(http.Hijacker); ok {
			t.Error("the writer of a recorder is an http.Hijacker")
		}
		if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
			t.Error("Hijack of a recorder's writer returned no error")
		}
		fill(memctx.FromContext(r.Context()).Arena(), 1, 1)
	}))
	before := names("request")
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if after := names("request"); after.Abandoned != before.Abandoned {
		t.Error("the request was abandoned")
	}
	check.VerifyNone(t)
}
