//go:build go1.25

package memhttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// pipes is a listener without a network, which no bubble would take for idle.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// Servers run in bubbles of testing/synctest, one after the other, which have the contexts'
// names and warm arenas in common: with requests, handlers that take too long, and
// clients that hang up.
func TestServersInBubbles(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	root := memctx.New("of all bubbles", memctx.Config{Limit: 1 << 20})
	for range 3 {
		synctest.Test(t, func(t *testing.T) { serveInBubble(t, root) })
		testkit.CollectGarbage()
	}
	testkit.Eventually(t, "all contexts have ended", func() bool { return root.Stats().Contexts == 1 && root.Stats().Total.Bytes == 0 })
	root.Delete()
	check.VerifyNone(t)
}

func serveInBubble(t *testing.T, root *memctx.Context) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		n := len(arena.MakeSlice[int](mc.Arena(), 1000, 1000))
		if r.URL.Path == "/slow" {
			time.Sleep(time.Minute)
			arena.MakeSlice[int](mc.Arena(), 1000, 1000)
		}
		fmt.Fprint(w, n)
	})
	srv := &http.Server{Handler: http.TimeoutHandler(handler, time.Second, "too late")}
	memhttp.Wrap(srv, memhttp.Config{Parent: root})
	incoming := make(pipes)
	ended := make(chan error)
	go func() { ended <- srv.Serve(incoming) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		incoming <- theirs
		return ours, nil
	}}}
	for i := range 20 {
		path, want := "/", "1000"
		if i%5 == 4 {
			path, want = "/slow", "too late"
		}
		res, err := client.Get("http://bubble" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != want {
			t.Fatalf("%s: %q", path, body)
		}
	}
	time.Sleep(time.Hour) // the slow ones are over
	client.CloseIdleConnections()
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
	synctest.Wait()
}
