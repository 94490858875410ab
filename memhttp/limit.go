package memhttp

import (
	"errors"
	"net/http"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/request"
)

// fail deals with what the handler panicked with.
func (x *exchange) fail(v any) {
	var limit *arena.LimitError
	if err, ok := v.(error); !ok || !errors.As(err, &limit) {
		panic(v)
	}
	status := http.StatusRequestEntityTooLarge
	if request.Above(limit, *x.scope.Carried()) {
		status = http.StatusServiceUnavailable
	}
	if s := x.handler.conf.LimitStatus; s != 0 {
		status = s
	}
	if x.wrote.Load() || x.unsure.Load() {
		panic(http.ErrAbortHandler)
	}
	w := x.below
	h := w.Header()
	for _, k := range []string{"Content-Encoding", "Etag", "Last-Modified", "Cache-Control", "Trailer"} {
		h.Del(k) // as they are of the answer that there was to be
	}
	if x.proto == 1 {
		// The next request on the connection would find that the memory which was
		// left to the garbage collector still counts against the connection's limit.
		// And there may be much left of this one to read.
		h.Set("Connection", "close")
	}
	http.Error(w, http.StatusText(status)+": memory limit", status)
}
