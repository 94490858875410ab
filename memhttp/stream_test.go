package memhttp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// TestStreaming has a handler build lines in its memory, flush each, and use the
// memory again for the next, in step with a client that reads them.
func TestStreaming(t *testing.T) {
	goOn := make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		rc := http.NewResponseController(w)
		for i := range 50 {
			line := arena.String(mc.Arena(), fmt.Sprintf("line %d", i))
			fmt.Fprintln(w, line)
			if i%2 == 0 {
				w.(http.Flusher).Flush()
			} else if err := rc.Flush(); err != nil {
				t.Error(err)
			}
			mc.Reset()
			<-goOn // the client has the line
		}
	}))
	res, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	for i := 0; in.Scan(); i++ {
		if want := fmt.Sprintf("line %d", i); in.Text() != want {
			t.Errorf("got %q, want %q", in.Text(), want)
		}
		goOn <- struct{}{}
	}
	if err := in.Err(); err != nil {
		t.Error(err)
	}
}

// TestArenaAnswers has handlers answer with bytes in their memory, in all ways and
// sizes, the small ones of which net/http sends after the handler has returned.
// Meanwhile others fill the same memory.
func TestArenaAnswers(t *testing.T) {
	write := map[string]func(w http.ResponseWriter, a *arena.Arena, b []byte) error{
		"/Write": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			_, err := w.Write(b)
			return err
		},
		"/pieces": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			for len(b) > 0 {
				n := min(len(b), 700)
				if _, err := w.Write(b[:n]); err != nil {
					return err
				}
				b = b[n:]
			}
			return nil
		},
		"/WriteString": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			_, err := io.WriteString(w, arena.String(a, b))
			return err
		},
		"/Copy": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			_, err := io.Copy(w, struct{ io.Reader }{bytes.NewReader(b)})
			return err
		},
		"/WriteTo": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			_, err := bytes.NewReader(b).WriteTo(w)
			return err
		},
		"/ServeContent": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			http.ServeContent(w, httptest.NewRequest("GET", "/", nil), "x.bin", time.Time{}, bytes.NewReader(b))
			return nil
		},
		"/length": func(w http.ResponseWriter, a *arena.Arena, b []byte) error {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			_, err := w.Write(b)
			return err
		},
	}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n, seed int
		fmt.Sscanf(r.URL.RawQuery, "n=%d&seed=%d", &n, &seed)
		a := memctx.FromContext(r.Context()).Arena()
		b := arena.MakeSlice[byte](a, n, n)
		pattern(b, seed)
		if err := write[r.URL.Path](w, a, b); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
	}))
	errs := make(chan error, len(write))
	for path := range write {
		go func() {
			errs <- func() error {
				for round := range 5 {
					for i, n := range []int{1, 100, 2047, 2048, 2049, 4096, 5000, 100_000, 1 << 20} {
						seed := round*31 + i
						_, body, err := fetch(s.Client(), fmt.Sprintf("%s%s?n=%d&seed=%d", s.URL, path, n, seed))
						if err != nil {
							return err
						}
						want := make([]byte, n)
						pattern(want, seed)
						if body != string(want) {
							return fmt.Errorf("%s: the answer of %d bytes is not what the handler wrote", path, n)
						}
					}
				}
				return nil
			}()
		}()
	}
	for range write {
		if err := testkit.Receive(t, "a client has ended", errs); err != nil {
			t.Error(err)
		}
	}
}

func pattern(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i>>8 ^ i*7 ^ seed*131)
	}
}

// TestHeaderValues has header values and trailers lie in a request's memory. The
// header of a short answer, and trailers, are written when the handler has
// returned. With HTTP/2 the same holds.
func TestHeaderValues(t *testing.T) {
	body := map[string]func(w http.ResponseWriter){
		"/none":    func(w http.ResponseWriter) {},
		"/status":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"/short":   func(w http.ResponseWriter) { io.WriteString(w, "short") },
		"/long":    func(w http.ResponseWriter) { w.Write(make([]byte, 100_000)) },
		"/flushed": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
	}
	shared := []string{"shared"}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		id := func(what string) string { return arena.String(mc.Arena(), what+r.URL.RawQuery) }
		w.Header()["X-Shared"] = shared
		w.Header()["X-Id"] = arena.Append(mc.Arena(), nil, id("first"), id("second"))
		w.Header().Set("Trailer", "X-Announced")
		body[r.URL.Path](w)
		w.Header().Set("X-Announced", id("announced"))
		w.Header().Set(http.TrailerPrefix+"X-More", id("more"))
	})
	for _, proto := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP/%d", proto), func(t *testing.T) {
			s := serveWith(t, h, func(ts *httptest.Server) {
				if ts.EnableHTTP2 = proto == 2; proto == 2 {
					ts.StartTLS()
				} else {
					ts.Start()
				}
			})
			for path := range body {
				for i := range 20 {
					res, err := s.Client().Get(fmt.Sprintf("%s%s?%d", s.URL, path, i))
					if err != nil {
						t.Fatal(err)
					}
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
					want := fmt.Sprintf("[first%d second%d] [shared]", i, i)
					if got := fmt.Sprint(res.Header["X-Id"], res.Header["X-Shared"]); got != want || res.ProtoMajor != proto {
						t.Fatalf("%s: header has %s, want %s", path, got, want)
					}
					if res.Trailer == nil {
						continue // HTTP/1 sends those of chunked answers alone
					}
					want = fmt.Sprintf("announced%d more%d", i, i)
					if got := res.Trailer.Get("X-Announced") + " " + res.Trailer.Get("X-More"); got != want && path == "/long" {
						t.Fatalf("%s: trailer has %s, want %s", path, got, want)
					}
				}
			}
		})
	}
	if shared[0] != "shared" {
		t.Error("a slice that the handler put into the header was written to")
	}
}

// TestController checks that what http.ResponseController does reaches net/http's
// writer.
func TestController(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		if err := errors.Join(
			rc.SetReadDeadline(time.Now().Add(time.Hour)),
			rc.SetWriteDeadline(time.Now().Add(time.Hour)),
			rc.EnableFullDuplex(),
		); err != nil {
			t.Error(err)
		}
		// Full duplex: write before all of the request is read.
		in := bufio.NewReader(r.Body)
		for range 3 {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Error(err)
			}
			io.WriteString(w, "got "+line)
			rc.Flush()
		}
		// A deadline in the past makes the read fail, and not the server.
		rc.SetReadDeadline(time.Now().Add(-time.Second))
		if _, err := in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a read after the deadline returned %v", err)
		}
	}))
	pr, pw := io.Pipe()
	res, err := func() (*http.Response, error) {
		go fmt.Fprintln(pw, "0")
		return s.Client().Post(s.URL, "text/plain", pr)
	}()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	for i := range 3 {
		if line, err := in.ReadString('\n'); err != nil || line != fmt.Sprintf("got %d\n", i) {
			t.Fatalf("%q, %v", line, err)
		}
		if i < 2 {
			fmt.Fprintln(pw, i+1)
		}
	}
	in.ReadString('\n')
	pw.Close()
}

// TestFile checks that a file goes to the connection by ReadFrom, which is what
// lets the kernel copy it.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	text := strings.Repeat("haven ", 100_000)
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	read := make(chan bool, 1)
	s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, name)
	}), func(ts *httptest.Server) {
		inner := ts.Config.Handler
		ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(&readerFromSpy{w, w.(io.ReaderFrom), read}, r)
		})
		ts.Start()
	})
	if _, body := get(t, s.Client(), s.URL); body != text {
		t.Errorf("%d bytes came, want %d", len(body), len(text))
	}
	select {
	case <-read:
	default:
		t.Error("ReadFrom was not called")
	}
}

type readerFromSpy struct {
	http.ResponseWriter
	io.ReaderFrom
	called chan bool
}

func (s *readerFromSpy) ReadFrom(r io.Reader) (int64, error) {
	s.called <- true
	return s.ReaderFrom.ReadFrom(r)
}
