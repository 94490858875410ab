package memhttp

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/memctx"
)

// A Config has the settings of a [Handler], or of what [Wrap] puts in. In the zero Config
// all are the default.
type Config struct {
	// Parent is the context above those of requests and connections. Without one, they
	// are below a context "http", which lasts while there are some. The parent must
	// outlive the server: delete it when Shutdown or Close has returned. Handlers that
	// still run keep their requests' memory until they return, though not that of
	// contexts they made below.
	Parent *memctx.Context

	// RequestLimit bounds the bytes that each request takes in chunks. 0 means no bound but
	// those above; it must not be negative.
	RequestLimit int

	// ConnLimit bounds the bytes that each connection takes in chunks, all its requests
	// together. [Handler] by itself knows no connections, and does not heed it. 0 means no
	// bound but those above; it must not be negative.
	ConnLimit int

	// LimitStatus is the status, 400 to 599, that answers a request which went over a
	// limit. 0 means 413 for its own limit and 503 for one above it.
	LimitStatus int

	// Ident returns what tells requests apart in paths and reports. It is called for each
	// request, maybe by several goroutines, before the handler. nil means the pattern that
	// http.ServeMux has chosen, if Handler is inside of one, or else the path of the URL,
	// at most 64 bytes of it.
	Ident func(*http.Request) string
}

// configOf returns the Config that a function was given.
func configOf(function string, given []Config) Config {
	c := config.Optional("memhttp", function, given)
	field := func(name string) string { return "memhttp: " + function + ": Config." + name }
	config.AtLeast(field("RequestLimit"), c.RequestLimit, 0, "a number of bytes, 0 (no bound) or more")
	config.AtLeast(field("ConnLimit"), c.ConnLimit, 0, "a number of bytes, 0 (no bound) or more")
	if c.LimitStatus != 0 && (c.LimitStatus < 400 || c.LimitStatus > 599) {
		panic(fmt.Sprintf("%s is %d: want the status of an error, 400 to 599, or 0 (the default)", field("LimitStatus"), c.LimitStatus))
	}
	if c.Ident == nil {
		c.Ident = route
	}
	return c
}

// maxIdent bounds what a request keeps of its URL, which the client chooses.
const maxIdent = 64

// route is the default of Ident.
func route(r *http.Request) string {
	if r.Pattern != "" {
		return r.Pattern
	}
	if r.URL == nil {
		return ""
	}
	path := r.URL.Path
	if len(path) <= maxIdent {
		return path
	}
	n := maxIdent
	for n > maxIdent-utf8.UTFMax && !utf8.RuneStart(path[n]) {
		n--
	}
	return path[:n]
}
