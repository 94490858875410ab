package memhttp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// collect is a handler that reads the whole body into its memory, and answers with
// its length.
func collect(w http.ResponseWriter, r *http.Request) {
	a := memctx.FromContext(r.Context()).Arena()
	var body []byte
	buf := make([]byte, 4096)
	for {
		n, err := r.Body.Read(buf)
		body = arena.Append(a, body, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return // the client is gone
		}
	}
	fmt.Fprint(w, len(body))
}

// TestClientGone has clients hang up while a goroutine that their handler does not
// wait for uses the request's memory, as in a select with r.Context().Done().
func TestClientGone(t *testing.T) {
	l := newLatecomer()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			return
		}
		go l.ServeHTTP(nothing{}, r)
		<-r.Context().Done()
	}))
	nc, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(nc, "GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
	testkit.Receive(t, "the goroutine has filled the memory", l.filled)
	nc.Close()
	testkit.Until(t, "the request has ended", func() bool { return s.root.Stats().Contexts == 1 })
	churn(t, churner(s.root))
	close(l.goOn)
	if err := testkit.Receive(t, "the goroutine has ended", l.result); err != nil {
		t.Error(err)
	}
	if status, _ := get(t, s.Client(), s.URL); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

type nothing struct{}

func (nothing) Header() http.Header         { return http.Header{} }
func (nothing) WriteHeader(int)             {}
func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// TestOversizedBodies has many clients send more than a request may take, with and
// without saying so, beside others who do not.
func TestOversizedBodies(t *testing.T) {
	const limit = 256 << 10
	var mu sync.Mutex
	largest := 0 // bytes of a request
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			largest = max(largest, memctx.FromContext(r.Context()).Stats().Total.HighWater)
		}()
		collect(w, r)
	}), memhttp.Config{RequestLimit: limit})
	huge, small := strings.Repeat("x", 4<<20), strings.Repeat("x", 10_000)
	var wg sync.WaitGroup
	post := func(body io.Reader, check func(res *http.Response, answer string, err error)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			res, err := s.Client().Post(s.URL, "text/plain", body)
			if err != nil {
				check(nil, "", err)
				return
			}
			answer, err := io.ReadAll(res.Body)
			res.Body.Close()
			check(res, string(answer), err)
		}()
	}
	for range 20 {
		for _, body := range []io.Reader{strings.NewReader(huge), struct{ io.Reader }{strings.NewReader(huge)}} {
			post(body, func(res *http.Response, answer string, err error) {
				// A client may not get to the answer: it is still sending when the
				// server closes the connection.
				if err == nil && res.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("4 MiB were answered with %d %q", res.StatusCode, answer)
				}
			})
		}
		post(strings.NewReader(small), func(res *http.Response, answer string, err error) {
			if err != nil || answer != "10000" {
				t.Errorf("10 kB were answered with %q, %v", answer, err)
			}
		})
	}
	wg.Wait()
	mu.Lock() // a handler whose client has hung up may still run
	defer mu.Unlock()
	if largest == 0 || largest > limit {
		t.Errorf("a request took %d bytes, want some, and at most %d", largest, limit)
	}
}

// TestStalledClients has clients who stop in the middle of what they send, and some
// who do not read what they are sent. They hold their memory and no more, others
// are served, and when they hang up the memory is free.
func TestStalledClients(t *testing.T) {
	const clients = 20
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/download" {
			collect(w, r)
			return
		}
		b := arena.MakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 64<<10, 64<<10)
		for {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}), memhttp.Config{RequestLimit: 1 << 20})
	before := names("request")
	var stalled []net.Conn
	for i := range clients {
		nc, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, nc)
		if i%2 == 0 {
			fmt.Fprintf(nc, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n%s", strings.Repeat("x", 10_000))
		} else {
			fmt.Fprintf(nc, "GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
		}
	}
	running := func() (n, bytes int) {
		s.root.Walk(func(c *memctx.Context, _ int) bool {
			if s := c.Stats(); s.Name == "request" && s.Own.Bytes > 0 {
				n++
				bytes += s.Own.Bytes
			}
			return true
		})
		return n, bytes
	}
	testkit.Until(t, "all clients have a request under way", func() bool {
		n, _ := running()
		return n == clients
	})
	for range 100 {
		res, err := s.Client().Post(s.URL, "text/plain", bytes.NewReader(make([]byte, 5000)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(answer) != "5000" {
			t.Fatalf("5000 bytes were answered with %q, %v", answer, err)
		}
	}
	if n, bytes := running(); bytes > n*(1<<20) {
		t.Errorf("%d requests take %d bytes", n, bytes)
	}
	for _, nc := range stalled {
		nc.Close()
	}
	s.Client().CloseIdleConnections()
	testkit.Until(t, "all requests have ended", func() bool { return s.root.Stats().Contexts == 1 })
	if n := names("request").Abandoned - before.Abandoned; n != clients {
		t.Errorf("%d requests were abandoned, want those of the %d clients who hung up", n, clients)
	}
}

// TestHalfRequests has clients hang up at each point of a request.
func TestHalfRequests(t *testing.T) {
	s := serve(t, http.HandlerFunc(collect), memhttp.Config{RequestLimit: 1 << 20})
	request := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n" + strings.Repeat("x", 40)
	for n := range len(request) + 1 {
		nc, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(nc, request[:n])
		nc.Close()
	}
	if status, _ := get(t, s.Client(), s.URL); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

// TestBodyToAnswer has a handler read and write at the same time, through its
// memory.
func TestBodyToAnswer(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := arena.MakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 8<<10, 8<<10)
		for {
			n, err := r.Body.Read(buf)
			if _, werr := w.Write(bytes.ToUpper(buf[:n])); werr != nil {
				t.Error(werr)
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}), memhttp.Config{RequestLimit: 16 << 10})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			// Without full duplex net/http reads on only until it has to write.
			text := strings.Repeat(string(rune('a'+i)), 1500)
			for range 50 {
				res, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(text))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || string(got) != strings.ToUpper(text) {
					t.Errorf("%d bytes of %q, %v", len(got), got[:min(len(got), 10)], err)
					return
				}
			}
		}()
	}
	wg.Wait()
}
