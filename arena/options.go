package arena

import (
	"fmt"
	"math"
)

// An Option sets a property of an arena made by [NewArena] or of the arenas of
// a [NewPool].
type Option struct{ apply func(*Arena) }

// Name sets the name that panics, errors and statistics show.
func Name(name string) Option {
	return Option{func(a *Arena) { a.name = name }}
}

// Limit bounds the bytes that an arena reserves, all chunks of all types
// together; 0, the default, means no bound. An allocation that would exceed it
// panics with, or returns, a [*LimitError]. The limit is checked only when a
// chunk is added. Limit panics if bytes is negative.
func Limit(bytes int) Option {
	checkBytes("Limit", bytes, 0)
	return Option{func(a *Arena) { a.limit = bytes }}
}

// Retain bounds the bytes that stay with the arena over a Reset, 64 MiB by
// default; what is above goes to the garbage collector. Retain panics if bytes
// is negative.
func Retain(bytes int) Option {
	checkBytes("Retain", bytes, 0)
	return Option{func(a *Arena) { a.retain = min(bytes, math.MaxInt-1) + 1 }}
}

// FirstChunk sets the size in bytes of each type's first chunk, 512 by
// default. It is rounded to what Go's heap hands out. FirstChunk panics if
// bytes is not positive.
func FirstChunk(bytes int) Option {
	checkBytes("FirstChunk", bytes, 1)
	return Option{func(a *Arena) { a.first = bytes }}
}

// MaxChunk sets the size in bytes up to which chunks double, 1 MiB by default.
// A longer slice still gets a chunk of its own, and the chunk that a type gets
// after a Reset is as large as what was needed before it. MaxChunk panics if
// bytes is not positive.
func MaxChunk(bytes int) Option {
	checkBytes("MaxChunk", bytes, 1)
	return Option{func(a *Arena) { a.max = bytes }}
}

func checkBytes(option string, bytes, least int) {
	if bytes < least {
		panic(fmt.Sprintf("arena: %s(%d): want a number of bytes, %d or more", option, bytes, least))
	}
}
