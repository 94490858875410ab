package memctx

import (
	"fmt"
	"time"
)

// An Option sets a property of a context.
type Option struct{ apply func(*Context) }

// Ident says which one of the contexts of a name it is: this query, that route,
// the 17th connection. It shows in paths and reports, as in conn[17]. Metrics and
// warm memory go by name alone.
func Ident(ident string) Option {
	return Option{func(c *Context) { c.ident = ident }}
}

// Limit bounds the bytes that the context and all below it take in chunks; 0, the
// default, means no bound but those above. An allocation that would exceed it
// panics with, or returns, an [*arena.LimitError]. A limit is looked at only when
// a chunk is added, or a warm arena comes in. It must not be negative.
func Limit(bytes int) Option {
	return Option{func(c *Context) { c.ledger.limit = bytes }}
}

// Reserve takes bytes from the limits above ahead of time, so that the context
// and those below it are sure of them. What they need beyond is taken as they
// need it. Memory itself is not allocated ahead. It must not be negative, nor
// above the context's own Limit.
func Reserve(bytes int) Option {
	return Option{func(c *Context) { c.ledger.reserve = bytes }}
}

// MaxAge makes the leak finder report the context when it has lived longer; 0,
// the default, means never. It must not be negative.
func MaxAge(d time.Duration) Option {
	return Option{func(c *Context) { c.maxAge = d }}
}

// checkOptions panics if the options of a new context do not fit together.
func (c *Context) checkOptions(op, name string, parent *Context) {
	limit, reserve, bad := c.ledger.limit, c.ledger.reserve, ""
	switch {
	case limit < 0:
		bad = fmt.Sprintf("Limit(%d): want a number of bytes, 0 or more", limit)
	case reserve < 0:
		bad = fmt.Sprintf("Reserve(%d): want a number of bytes, 0 or more", reserve)
	case limit > 0 && reserve > limit:
		bad = fmt.Sprintf("Reserve(%d) with Limit(%d): want no more than the limit", reserve, limit)
	case c.maxAge < 0:
		bad = fmt.Sprintf("MaxAge(%v): want 0 or more", c.maxAge)
	default:
		return
	}
	panic(fmt.Sprintf("memctx: %s(%q)%s: %s", op, name, parent.of(), bad))
}
