package memctx

import (
	"fmt"
	"time"

	"github.com/haven-mem/haven/internal/config"
)

// A Config has the settings of a context. In the zero Config all are the default.
type Config struct {
	// Ident says which one of the contexts of a name it is: this query, that route, the
	// 17th connection. It shows in paths and reports, as in conn[17]. Metrics and warm
	// memory go by name alone. The default is none.
	Ident string

	// Limit bounds the bytes that the context and all below it take in chunks. An
	// allocation that would exceed it panics with, or returns, an [*arena.LimitError]. It
	// is looked at only when a chunk is added, or a warm arena comes in. 0 means no bound
	// but those above; it must not be negative.
	Limit int

	// MaxAge makes the leak finder report the context when it has lived longer. 0 means
	// never; it must not be negative.
	MaxAge time.Duration

	// Reserve is how many bytes are taken from the limits above ahead of time, so that the
	// context and those below it are sure of them. What they need beyond is taken as they
	// need it. Memory itself is not allocated ahead. 0 means none; it must not be negative,
	// nor above Limit if there is one.
	Reserve int

	// FirstChunk and Retain are those of [arena.Config], for the context's own arena. That
	// comes warm from a context of the same name, so FirstChunk holds for types that this
	// name has not allocated yet, and Retain for what the next context finds. Contexts of
	// one name should agree about both. 0 means the default; FirstChunk must not be
	// negative, and Retain not less than -1, which means that nothing stays.
	FirstChunk, Retain int
}

// check panics if a setting of a new context is out of its range, or if two do not fit
// together.
func (c *Config) check(op, name string, parent ref) {
	if c.Limit >= 0 && c.Reserve >= 0 && c.FirstChunk >= 0 && c.Retain >= -1 && (c.Limit == 0 || c.Reserve <= c.Limit) && c.MaxAge >= 0 {
		return
	}
	field := func(field string) string {
		return fmt.Sprintf("memctx: %s(%q)%s: Config.%s", op, name, parent.of(), field)
	}
	config.AtLeast(field("Limit"), c.Limit, 0, "a number of bytes, 0 (no bound) or more")
	config.AtLeast(field("Reserve"), c.Reserve, 0, "a number of bytes, 0 or more")
	config.AtLeast(field("MaxAge"), c.MaxAge, 0, "a duration, 0 (never) or more")
	config.AtLeast(field("FirstChunk"), c.FirstChunk, 0, "a number of bytes, 0 (the default) or more")
	config.AtLeast(field("Retain"), c.Retain, -1, "a number of bytes, 0 (the default), or -1 (nothing)")
	panic(fmt.Sprintf("%s is %d: want no more than Limit, which is %d", field("Reserve"), c.Reserve, c.Limit))
}
