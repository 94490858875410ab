package memhttp

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/haven-mem/haven/memctx"
)

// An Option sets a property of a [Handler], or of what [Wrap] puts in.
type Option struct{ apply func(*options) }

type options struct {
	parent       *memctx.Context
	requestLimit int
	connLimit    int
	limitStatus  int
	ident        func(*http.Request) string
}

// Parent puts the contexts below mc. Without it, or if mc is nil, they are below a
// context "http", which lasts while there are some. The parent must outlive the
// server: delete it when Shutdown or Close has returned. Handlers that still
// run keep their requests' memory until they return, though not that of contexts
// they made below.
func Parent(mc *memctx.Context) Option { return Option{func(o *options) { o.parent = mc }} }

// RequestLimit bounds the bytes that each request takes in chunks; 0, the default,
// means no bound but those above. It must not be negative.
func RequestLimit(bytes int) Option { return Option{func(o *options) { o.requestLimit = bytes }} }

// ConnLimit bounds the bytes that each connection takes in chunks, all its
// requests together; 0, the default, means no bound but those above. It must not
// be negative. [Handler] by itself knows no connections, and does not heed it.
func ConnLimit(bytes int) Option { return Option{func(o *options) { o.connLimit = bytes }} }

// LimitStatus sets the status, 400 to 599, that answers a request which went over
// a limit, instead of 413 for its own limit and 503 for one above it.
func LimitStatus(status int) Option { return Option{func(o *options) { o.limitStatus = status }} }

// Ident sets what tells requests apart in paths and reports. f is called for each
// request, maybe by several goroutines, before the handler. By default it is the
// pattern that http.ServeMux has chosen, if Handler is inside of one, or else the
// path of the URL, at most 64 bytes of it.
func Ident(f func(*http.Request) string) Option { return Option{func(o *options) { o.ident = f }} }

// newOptions puts options together. It panics if one does not fit.
func newOptions(op string, list []Option) options {
	o := options{ident: route}
	for _, x := range list {
		if x.apply != nil { // the zero Option sets nothing
			x.apply(&o)
		}
	}
	switch {
	case o.requestLimit < 0:
		panic(fmt.Sprintf("memhttp: %s: RequestLimit(%d): want a number of bytes, 0 or more", op, o.requestLimit))
	case o.connLimit < 0:
		panic(fmt.Sprintf("memhttp: %s: ConnLimit(%d): want a number of bytes, 0 or more", op, o.connLimit))
	case o.limitStatus != 0 && (o.limitStatus < 400 || o.limitStatus > 599):
		panic(fmt.Sprintf("memhttp: %s: LimitStatus(%d): want the status of an error, 400 to 599", op, o.limitStatus))
	case o.ident == nil:
		panic(fmt.Sprintf("memhttp: %s: Ident(nil): want a function", op))
	}
	return o
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
