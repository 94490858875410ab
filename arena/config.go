package arena

import (
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/reuse"
)

// A Config has the settings of an arena made by [NewArena], or of each arena of a
// [NewPool]. In the zero Config all are the default. A constructor panics if a field is
// out of the range that it says here.
type Config struct {
	// Name is what panics, errors and statistics show. The default is none.
	Name string

	// Limit bounds the bytes that the arena reserves, all chunks of all types together.
	// An allocation that would exceed it panics with, or returns, a [*LimitError]. It is
	// checked only when a chunk is added. 0 means no bound; it must not be negative.
	Limit int

	// Retain bounds the bytes that stay with the arena over a Reset; what is above goes
	// to the garbage collector. It is the bound for programs that never collect: else
	// what was not needed since the last collection but one goes anyway. 0 means 64 MiB,
	// and -1 means that nothing stays; it must not be less.
	Retain int

	// FirstChunk is the size in bytes of each type's first chunk: it has as many values as
	// fit, at least one. Above 512 bytes, 8 of them are Go's heap's (none from 32 KiB on).
	// 0 means what lanes of the type needed lately in arenas that were not reset, 128 to
	// 4096; it must not be negative. An arena that is dropped after a few values costs
	// by the byte what its chunks cost; for tiny rounds use a [Pool].
	FirstChunk int

	// MaxChunk is the size in bytes up to which chunks double. A longer slice still gets
	// a chunk of its own, and the chunk that a type gets after a Reset is as large as
	// what was needed before it. 0 means 1 MiB; it must not be negative.
	MaxChunk int

	// Reuse says whether memory that a Reset, or a Put, takes back is handed out again.
	// The default is Always.
	Reuse Reuse

	// Trials is how many Resets and Puts are on trial with Reuse Earn before memory is used
	// again. 0 means 1,000; it must not be negative.
	Trials int
}

// Reuse says whether an arena, or the arenas of a [Pool] together, hand memory out again
// that they took back. A kept pointer into memory that is not handed out again reads what
// it always did.
//
//   - Always: from the first Reset on.
//   - Earn: not until the memory of Config.Trials Resets was watched and the garbage
//     collector has seen, two collections after the last of them, that nobody refers to
//     any of it. From then on one Reset in 1,024 is watched, as in any arena. If something
//     is found, by either, the trials start anew, and what lay idle goes.
//   - Never: each chunk goes to the garbage collector. The next is of the size that was
//     needed, so a steady program allocates one for each type.
//
// Release of a [Mark] is no Reset, and the memory between the two is used again in any case.
type Reuse = reuse.Mode

const (
	Always = reuse.Always
	Earn   = reuse.Earn
	Never  = reuse.Never
)

// A ReuseState is how far a [Pool] is with its Config.Reuse.
type ReuseState = reuse.State

// configOf returns the Config that a constructor was given.
func configOf(constructor string, given []Config) Config {
	c := config.Optional("arena", constructor, given)
	config.AtLeast("arena: Config.Limit", c.Limit, 0, "a number of bytes, 0 (no bound) or more")
	config.AtLeast("arena: Config.Retain", c.Retain, -1, "a number of bytes, 0 (the default), or -1 (nothing)")
	config.AtLeast("arena: Config.FirstChunk", c.FirstChunk, 0, "a number of bytes, 0 (the default) or more")
	config.AtLeast("arena: Config.MaxChunk", c.MaxChunk, 0, "a number of bytes, 0 (the default) or more")
	config.AtMost("arena: Config.Reuse", c.Reuse, Never, "Always, Earn or Never")
	config.AtLeast("arena: Config.Trials", c.Trials, 0, "a number of Resets, 0 (the default) or more")
	return c
}

// retained returns the bytes that may stay over a Reset.
func (a *Arena) retained() int {
	if a == nil {
		return chunk.Retain
	}
	return chunk.Retained(a.seldom().retain)
}
