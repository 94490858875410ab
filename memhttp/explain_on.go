//go:build haven_check

package memhttp

import (
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/haven-mem/haven/internal/request"
)

// In the check build a fault in a handler is a panic, so that it ends the request and
// not the program, and what comes from released memory is told with the route.

// A watched is what an exchange has for that.
type watched struct {
	request *http.Request // that the handler got
	before  bool          // what debug.SetPanicOnFault was
}

// watch begins with the handler.
func (x *watched) watch(r *http.Request) {
	x.request, x.before = r, debug.SetPanicOnFault(true)
}

// unwatch ends with it.
func (x *watched) unwatch() { debug.SetPanicOnFault(x.before) }

// explain tells of a panic of the handler.
func (x *watched) explain(v any) { request.Explain(v, x.served) }

// served returns the method and the pattern, and the path if that is another.
func (x *watched) served() string {
	r := x.request
	pattern, path := r.Pattern, ""
	if r.URL != nil {
		path = r.URL.EscapedPath()
	}
	if pattern == "" {
		return r.Method + " " + path
	}
	if !strings.HasPrefix(pattern, r.Method+" ") {
		pattern = r.Method + " " + pattern
	}
	if strings.HasSuffix(pattern, " "+path) {
		return pattern
	}
	return pattern + ": " + path
}
