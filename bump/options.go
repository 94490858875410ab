package bump

import (
	"fmt"
	"math"

	"github.com/haven-mem/haven/internal/chunk"
)

// An Option sets a property of an arena made by [NewArena].
type Option struct{ apply func(*Arena) }

// NewArena returns an arena with the given options. It takes some 200 bytes; chunks are
// added as they are needed.
func NewArena(opts ...Option) *Arena {
	a := new(Arena)
	for _, o := range opts {
		if o.apply != nil { // the zero Option sets nothing
			o.apply(a)
		}
	}
	return a
}

// Name sets the name that panics, errors, statistics and reports show.
func Name(name string) Option {
	return Option{func(a *Arena) { a.name = name }}
}

// Limit bounds the bytes that an arena reserves in chunks; 0, the default, means no
// bound. An allocation that would exceed it panics with, or returns, a [*LimitError]. The
// limit is checked only when a chunk is added. Limit panics if bytes is negative.
func Limit(bytes int) Option {
	checkBytes("Limit", bytes)
	return Option{func(a *Arena) { a.limit = bytes }}
}

// Retain bounds the bytes that stay with the arena over a Reset, 64 MiB by default; a
// chunk above goes to the garbage collector. Retain panics if bytes is negative.
func Retain(bytes int) Option {
	checkBytes("Retain", bytes)
	return Option{func(a *Arena) { a.retain = min(bytes, math.MaxInt-1) + 1 }}
}

func checkBytes(option string, bytes int) {
	if bytes < 0 {
		panic(fmt.Sprintf("bump: %s(%d): want a number of bytes, 0 or more", option, bytes))
	}
}

// retained returns the bytes that may stay over a Reset.
func (a *Arena) retained() int {
	if a.retain > 0 {
		return a.retain - 1
	}
	return chunk.Retain
}

// title names the arena in messages.
func (a *Arena) title() string {
	if owner := a.shadow.of(); owner != "" {
		return owner
	}
	return titleOf(a.name)
}

// titleOf names an arena of the given name in messages.
func titleOf(name string) string {
	if name == "" {
		return "a bump arena"
	}
	return fmt.Sprintf("bump arena %q", name)
}
