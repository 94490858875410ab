package memctx

import (
	"fmt"
	"time"
)

// An Option sets a property of a context.
type Option struct{ apply func(*options) }

type options struct {
	ident          string
	limit, reserve int
	maxAge         time.Duration
}

// Ident says which one of the contexts of a name it is: this query, that route,
// the 17th connection. It shows in paths and reports, as in conn[17]. Metrics and
// warm memory go by name alone.
func Ident(ident string) Option {
	return Option{func(o *options) { o.ident = ident }}
}

// Limit bounds the bytes that the context and all below it take in chunks; 0, the
// default, means no bound but those above. An allocation that would exceed it
// panics with, or returns, an [*arena.LimitError]. A limit is looked at only when
// a chunk is added, or a warm arena comes in. It must not be negative.
func Limit(bytes int) Option {
	return Option{func(o *options) { o.limit = bytes }}
}

// Reserve takes bytes from the limits above ahead of time, so that the context
// and those below it are sure of them. What they need beyond is taken as they
// need it. Memory itself is not allocated ahead. It must not be negative, nor
// above the context's own Limit.
func Reserve(bytes int) Option {
	return Option{func(o *options) { o.reserve = bytes }}
}

// MaxAge makes the leak finder report the context when it has lived longer; 0,
// the default, means never. It must not be negative.
func MaxAge(d time.Duration) Option {
	return Option{func(o *options) { o.maxAge = d }}
}

// check panics if the options do not fit together.
func (o *options) check(op, name string, parent *Context) {
	bad := ""
	switch {
	case o.limit < 0:
		bad = fmt.Sprintf("Limit(%d): want a number of bytes, 0 or more", o.limit)
	case o.reserve < 0:
		bad = fmt.Sprintf("Reserve(%d): want a number of bytes, 0 or more", o.reserve)
	case o.limit > 0 && o.reserve > o.limit:
		bad = fmt.Sprintf("Reserve(%d) with Limit(%d): want no more than the limit", o.reserve, o.limit)
	case o.maxAge < 0:
		bad = fmt.Sprintf("MaxAge(%v): want 0 or more", o.maxAge)
	default:
		return
	}
	panic(fmt.Sprintf("memctx: %s(%q)%s: %s", op, name, parent.of(), bad))
}
