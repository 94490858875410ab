package memhttp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memhttp"
)

// calls is what reached the writer below.
type calls struct {
	http.ResponseWriter
	made []string
}

type (
	flushes   struct{ c *calls }
	hijacks   struct{ c *calls }
	pushes    struct{ c *calls }
	readsFrom struct{ c *calls }
)

func (f flushes) Flush() { f.c.made = append(f.c.made, "Flush") }
func (h hijacks) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.c.made = append(h.c.made, "Hijack")
	return nil, nil, errors.New("not today")
}
func (p pushes) Push(string, *http.PushOptions) error {
	p.c.made = append(p.c.made, "Push")
	return nil
}
func (r readsFrom) ReadFrom(io.Reader) (int64, error) {
	r.c.made = append(r.c.made, "ReadFrom")
	return 0, nil
}

// writerWith returns a writer with the optional interfaces whose bits are set.
func writerWith(bits int) (http.ResponseWriter, *calls) {
	c := &calls{ResponseWriter: httptest.NewRecorder()}
	c.ResponseWriter = struct{ http.ResponseWriter }{c.ResponseWriter} // without those of a recorder
	f, h, p, r := flushes{c}, hijacks{c}, pushes{c}, readsFrom{c}
	return []http.ResponseWriter{
		c,
		struct {
			*calls
			flushes
		}{c, f},
		struct {
			*calls
			hijacks
		}{c, h},
		struct {
			*calls
			flushes
			hijacks
		}{c, f, h},
		struct {
			*calls
			pushes
		}{c, p},
		struct {
			*calls
			flushes
			pushes
		}{c, f, p},
		struct {
			*calls
			hijacks
			pushes
		}{c, h, p},
		struct {
			*calls
			flushes
			hijacks
			pushes
		}{c, f, h, p},
		struct {
			*calls
			readsFrom
		}{c, r},
		struct {
			*calls
			flushes
			readsFrom
		}{c, f, r},
		struct {
			*calls
			hijacks
			readsFrom
		}{c, h, r},
		struct {
			*calls
			flushes
			hijacks
			readsFrom
		}{c, f, h, r},
		struct {
			*calls
			pushes
			readsFrom
		}{c, p, r},
		struct {
			*calls
			flushes
			pushes
			readsFrom
		}{c, f, p, r},
		struct {
			*calls
			hijacks
			pushes
			readsFrom
		}{c, h, p, r},
		struct {
			*calls
			flushes
			hijacks
			pushes
			readsFrom
		}{c, f, h, p, r},
	}[bits], c
}

// use calls all optional methods that a writer has.
func use(w http.ResponseWriter) string {
	var had []string
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
		had = append(had, "Flush")
	}
	if h, ok := w.(http.Hijacker); ok {
		h.Hijack()
		had = append(had, "Hijack")
	}
	if p, ok := w.(http.Pusher); ok {
		p.Push("", nil)
		had = append(had, "Push")
	}
	if r, ok := w.(io.ReaderFrom); ok {
		r.ReadFrom(nil)
		had = append(had, "ReadFrom")
	}
	return strings.Join(had, " ")
}

// TestInterfaces checks that handlers see exactly the optional interfaces of the
// writer below, and reach them.
func TestInterfaces(t *testing.T) {
	for bits := range 16 {
		w, c := writerWith(bits)
		bare := use(w)
		c.made = nil
		var got string
		memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := w.(io.StringWriter); !ok {
				t.Error("no io.StringWriter")
			}
			got = use(w)
			err := http.NewResponseController(w).Flush()
			if can := bits&1 != 0; can != (err == nil) || !can && !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("%s: flush returned %v", bare, err)
			}
		})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if bits&1 != 0 {
			c.made = c.made[:len(c.made)-1] // that of the controller
		}
		if made := strings.Join(c.made, " "); got != bare || made != bare {
			t.Errorf("the writer below has [%s], the handler's [%s], and [%s] was called", bare, got, made)
		}
	}
	check.VerifyNone(t)
}

// TestUnwrappedInterfaces checks that what is found through Unwrap is not missed:
// a connection hijacked so, and a header flushed so, count.
func TestUnwrappedInterfaces(t *testing.T) {
	w, c := writerWith(3)
	var got string
	memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		rc.Flush()
		rc.Hijack()
		got = fmt.Sprint(c.made)
	})).ServeHTTP(unwrapper{struct{ http.ResponseWriter }{w}, w}, httptest.NewRequest("GET", "/", nil))
	if got != "[Flush Hijack]" {
		t.Errorf("%s was called", got)
	}
	check.VerifyNone(t)
}

type unwrapper struct {
	http.ResponseWriter
	below http.ResponseWriter
}

func (u unwrapper) Unwrap() http.ResponseWriter { return u.below }
