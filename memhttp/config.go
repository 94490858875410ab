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

	// FirstChunk and Retain are those of memctx.Config, for the arenas of requests.
	FirstChunk, Retain int

	// Route returns the name of a request's memory context, that is, what kind of work it is:
	// requests of one name share warm arenas, and reports, stale pointers and metrics name
	// it. It is called for each request, maybe by several goroutines, before the handler; if it
	// panics, so does the request's handler. "" is the name "request". A handler tells 256
	// names apart; what has another after that is a "request", too. So it returns a
	// route, not a path or an identity.
	//
	// nil means the pattern that http.ServeMux has chosen: one outside of Handler or, if the
	// wrapped handler is an http.ServeMux itself, that one, which then looks twice. With another
	// router, or with something between, all are requests without a Route.
	Route func(*http.Request) string

	// Ident returns what tells requests apart in paths and reports. It is called for each
	// request, maybe by several goroutines, before the handler. nil means the path of
	// the URL, at most 64 bytes of it.
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
	config.AtLeast(field("FirstChunk"), c.FirstChunk, 0, "a number of bytes, 0 (the default) or more")
	config.AtLeast(field("Retain"), c.Retain, -1, "a number of bytes, 0 (the default), or -1 (nothing)")
	if c.Ident == nil {
		c.Ident = path
	}
	return c
}

// maxIdent bounds what a request keeps of its URL, which the client chooses.
const maxIdent = 64

// pattern is the default of Route.
func pattern(r *http.Request) string { return r.Pattern }

// path is the default of Ident.
func path(r *http.Request) string {
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
