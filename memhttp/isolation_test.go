package memhttp_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// isolated is a handler that looks for others' data. All of its memory bears the
// request's number; what is new must be zero, and what it made must still be its
// own when it looks again, after a child of its context was in use as well. The
// answer is the number, from the memory.
type isolated struct{ found atomic.Pointer[error] }

func (h *isolated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, shape := number(r.URL.RawQuery), 0
	if r.URL.Path == "/large" {
		shape = 20
	}
	mc := memctx.FromContext(r.Context())
	err := h.use(mc.Arena(), id, 3+int(id%5)+shape, func() error {
		query := mc.Child("query")
		defer query.Delete()
		return h.use(query.Arena(), ^id, 2+shape, func() error { return nil })
	}, w)
	if err != nil {
		err = fmt.Errorf("request %d: %w", id, err)
		h.found.CompareAndSwap(nil, &err)
	}
}

// use fills memory, calls f and looks at the memory again.
func (h *isolated) use(a *arena.Arena, id uint64, n int, f func() error, w ...io.Writer) error {
	var list *cell
	for range n {
		c := arena.New[cell](a)
		if c.id != 0 || c.next != nil {
			return fmt.Errorf("a new cell holds %d", c.id)
		}
		*c = cell{id, list}
		list = c
	}
	b := arena.MakeSlice[byte](a, 8*n, 8*n)
	for i, x := range b {
		if x != 0 {
			return fmt.Errorf("byte %d of a new slice is %#x", i, x)
		}
	}
	for i := range n {
		binary.LittleEndian.PutUint64(b[8*i:], id)
	}
	if err := f(); err != nil {
		return err
	}
	for i := range n {
		if got := binary.LittleEndian.Uint64(b[8*i:]); got != id {
			return fmt.Errorf("word %d of a slice is %d, want %d", i, got, id)
		}
	}
	for _, w := range w {
		w.Write(b)
	}
	return intact(list, id, n)
}

func (h *isolated) check(t *testing.T) {
	t.Helper()
	if err := h.found.Load(); err != nil {
		t.Error(*err)
	}
}

func number(s string) (n uint64) {
	for _, c := range []byte(s) {
		n = 10*n + uint64(c-'0')
	}
	return n
}

// wantNumber checks an answer of isolated.
func wantNumber(answer []byte, id uint64) error {
	if len(answer) == 0 || len(answer)%8 != 0 {
		return fmt.Errorf("request %d: %d bytes", id, len(answer))
	}
	for ; len(answer) > 0; answer = answer[8:] {
		if got := binary.LittleEndian.Uint64(answer); got != id {
			return fmt.Errorf("request %d was answered with %d", id, got)
		}
	}
	return nil
}

// TestIsolation looks for data of one request in another's memory: a million
// requests through the handler itself, by four goroutines, of which one in a
// hundred panics, times out or has a client who is gone.
func TestIsolation(t *testing.T) {
	total := 1_000_000
	if testing.Short() || raceEnabled {
		total = 40_000
	}
	const workers = 4
	h, root := new(isolated), memctx.New("server", memctx.Config{Limit: 1 << 30})
	handler := memhttp.Handler(h, memhttp.Config{Parent: root, RequestLimit: 1 << 20})
	broken := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		panic(http.ErrAbortHandler)
	}), memhttp.Config{Parent: root})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v", v)
				}
			}()
			w := &recording{header: http.Header{}}
			for i := worker; i < total; i += workers {
				w.body = w.body[:0]
				id := uint64(i) + 1
				r := &http.Request{Method: "GET", URL: &url.URL{Path: "/", RawQuery: fmt.Sprint(id)}}
				if i%7 == 0 {
					r.URL.Path = "/large"
				}
				switch i % 300 {
				case 100:
					func() {
						defer func() { recover() }()
						broken.ServeHTTP(w, r)
					}()
				case 200:
					handler.ServeHTTP(w, r.WithContext(gone))
				default:
					handler.ServeHTTP(w, r)
				}
				if err := wantNumber(w.body, id); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	h.check(t)
	verifyNone(t, root)
}

type recording struct {
	header http.Header
	body   []byte
}

func (r *recording) Header() http.Header         { return r.header }
func (r *recording) WriteHeader(int)             {}
func (r *recording) Write(p []byte) (int, error) { r.body = append(r.body, p...); return len(p), nil }

// TestIsolationOverNetwork does the same through servers, with HTTP/1 and HTTP/2.
func TestIsolationOverNetwork(t *testing.T) {
	total := 4000
	if testing.Short() || raceEnabled {
		total = 800
	}
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(strings.ReplaceAll(proto, "/", ""), func(t *testing.T) {
			h := new(isolated)
			s := serveWith(t, h, func(ts *httptest.Server) {
				if proto == "HTTP/1.1" {
					ts.Start()
				} else {
					http2(ts)
				}
			}, memhttp.Config{RequestLimit: 1 << 20, ConnLimit: 1 << 24})
			const workers = 8
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := worker; i < total; i += workers {
						id := uint64(i) + 1
						path := []string{"/", "/large"}[i%2]
						res, err := s.Client().Get(fmt.Sprintf("%s%s?%d", s.URL, path, id))
						if err != nil {
							t.Error(err)
							return
						}
						body, err := io.ReadAll(res.Body)
						res.Body.Close()
						if err == nil {
							err = wantNumber(body, id)
						}
						if err != nil || res.Proto != proto {
							t.Errorf("%s: %v", res.Proto, err)
							return
						}
					}
				}()
			}
			wg.Wait()
			h.check(t)
		})
	}
}
