package memhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// An answer is the ResponseWriter of a request, and has the request's scope. It is there to
// know whether something was written, which decides how a limit is answered, whether a Write
// broke off and whether the connection was hijacked, and to copy the header.
type answer struct{ core }

// core is what answers with all sets of optional interfaces have in common.
type core struct {
	below  http.ResponseWriter
	copies copies // of the header
	can    capability
	wrote  atomic.Bool                  // the header at least
	unsure atomic.Bool                  // whether somebody still reads the request's memory
	scope  scope.Scope[*memctx.Context] // of the request's memory
}

// Header implements http.ResponseWriter.
func (a *core) Header() http.Header { return a.below.Header() }

// WriteHeader implements http.ResponseWriter.
func (a *core) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		a.begin()
	} else { // it is ahead of the answer
		a.keepHeader()
	}
	a.below.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *core) Write(p []byte) (int, error) {
	a.begin()
	n, err := a.below.Write(p)
	a.check(err)
	return n, err
}

// WriteString implements io.StringWriter.
func (a *core) WriteString(s string) (int, error) {
	a.begin()
	n, err := io.WriteString(a.below, s)
	a.check(err)
	return n, err
}

// FlushError is what http.ResponseController calls for Flush.
func (a *core) FlushError() error {
	if a.can&flushes == 0 {
		return http.ErrNotSupported
	}
	a.begin()
	err := http.NewResponseController(a.below).Flush()
	a.check(err)
	return err
}

// Unwrap is for http.ResponseController, whose deadlines and full duplex mode are
// those of the writer below.
func (a *core) Unwrap() http.ResponseWriter { return a.below }

// begin is called before the header is written.
func (a *core) begin() {
	if !a.wrote.Load() {
		a.keepHeader()
		a.wrote.Store(true)
	}
}

// check looks at the error of a write. net/http's HTTP/2 server gives up waiting
// when the stream ends, while the connection's writer may have the bytes still.
func (a *core) check(err error) {
	if err != nil && err != http.ErrBodyNotAllowed {
		a.unsure.Store(true)
	}
}

// keepHeader makes the header independent of the request's memory, for those who
// read it later. It is called before it is written and, since trailers come after
// that, when the handler has returned. A header that the memory was not there for
// stays as it is.
func (a *core) keepHeader() {
	if a.scope.Asked() {
		a.copies.own(a.below.Header())
	}
}

// A capability is an optional interface of ResponseWriters.
type capability uint8

const (
	flushes capability = 1 << iota
	hijacks
	pushes
	readsFrom
)

// writer returns the answer as a ResponseWriter with those optional interfaces
// that the one below has.
func (a *answer) writer() http.ResponseWriter {
	a.can = capabilities(a.below)
	switch a.can {
	case flushes | hijacks | readsFrom:
		return (*http1)(a)
	case flushes | pushes:
		return (*http2)(a)
	}
	f, h, p, r := flusher{a}, hijacker{a}, pusher{a}, readerFrom{a}
	switch a.can {
	case pushes: // http.TimeoutHandler
		return struct {
			*answer
			pusher
		}{a, p}
	case flushes: // httptest.ResponseRecorder
		return struct {
			*answer
			flusher
		}{a, f}
	case hijacks:
		return struct {
			*answer
			hijacker
		}{a, h}
	case readsFrom:
		return struct {
			*answer
			readerFrom
		}{a, r}
	case flushes | hijacks:
		return struct {
			*answer
			flusher
			hijacker
		}{a, f, h}
	case flushes | readsFrom:
		return struct {
			*answer
			flusher
			readerFrom
		}{a, f, r}
	case hijacks | pushes:
		return struct {
			*answer
			hijacker
			pusher
		}{a, h, p}
	case hijacks | readsFrom:
		return struct {
			*answer
			hijacker
			readerFrom
		}{a, h, r}
	case pushes | readsFrom:
		return struct {
			*answer
			pusher
			readerFrom
		}{a, p, r}
	case flushes | hijacks | pushes:
		return struct {
			*answer
			flusher
			hijacker
			pusher
		}{a, f, h, p}
	case flushes | pushes | readsFrom:
		return struct {
			*answer
			flusher
			pusher
			readerFrom
		}{a, f, p, r}
	case hijacks | pushes | readsFrom:
		return struct {
			*answer
			hijacker
			pusher
			readerFrom
		}{a, h, p, r}
	case flushes | hijacks | pushes | readsFrom:
		return struct {
			*answer
			flusher
			hijacker
			pusher
			readerFrom
		}{a, f, h, p, r}
	}
	return a
}

// capabilities returns what w has, for Flush and Hijack also through Unwrap, as
// http.ResponseController does.
func capabilities(w http.ResponseWriter) capability {
	var can capability
	if _, ok := w.(http.Pusher); ok {
		can |= pushes
	}
	if _, ok := w.(io.ReaderFrom); ok {
		can |= readsFrom
	}
	for {
		switch w.(type) {
		case interface{ FlushError() error }, http.Flusher:
			can |= flushes
		}
		if _, ok := w.(http.Hijacker); ok {
			can |= hijacks
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return can
		}
		w = u.Unwrap()
	}
}

// http1 and http2 are answers to net/http's own servers, which cost no piece of Go's heap.
type (
	http1 answer
	http2 answer
)

func (a *http1) Flush()                                       { a.FlushError() }
func (a *http1) Hijack() (net.Conn, *bufio.ReadWriter, error) { return hijacker{(*answer)(a)}.Hijack() }
func (a *http1) ReadFrom(src io.Reader) (int64, error)        { return readerFrom{(*answer)(a)}.ReadFrom(src) }
func (a *http2) Flush()                                       { a.FlushError() }
func (a *http2) Push(target string, opts *http.PushOptions) error {
	return pusher{(*answer)(a)}.Push(target, opts)
}

type (
	flusher    struct{ a *answer }
	hijacker   struct{ a *answer }
	pusher     struct{ a *answer }
	readerFrom struct{ a *answer }
)

// Flush implements http.Flusher.
func (f flusher) Flush() { f.a.FlushError() }

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, rw, err := http.NewResponseController(h.a.below).Hijack()
	if err == nil {
		h.a.unsure.Store(true)
	}
	return nc, rw, err
}

// Push implements http.Pusher.
func (p pusher) Push(target string, opts *http.PushOptions) error {
	if opts != nil {
		header := opts.Header.Clone()
		new(copies).own(header)
		opts = &http.PushOptions{Method: strings.Clone(opts.Method), Header: header}
	}
	return p.a.below.(http.Pusher).Push(strings.Clone(target), opts)
}

// ReadFrom implements io.ReaderFrom, which lets the kernel copy a file.
func (r readerFrom) ReadFrom(src io.Reader) (int64, error) {
	r.a.begin()
	n, err := r.a.below.(io.ReaderFrom).ReadFrom(src)
	r.a.check(err)
	return n, err
}
