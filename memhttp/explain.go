package memhttp

import (
	"net/http"
	"strings"
)

// In the check build a fault in a handler is a panic, so that it ends the request and
// not the program, and what comes from released memory is told with the route.

// served returns the method and the pattern, and the path if that is another.
func served(r *http.Request) string {
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
