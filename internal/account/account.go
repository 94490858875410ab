// Package account lets a memory context pay for the chunks of an arena, without
// either package naming the other in its public part.
package account

import (
	"errors"

	"github.com/haven-mem/haven/internal/leak"
)

// ErrLimit is what errors of all limits are.
var ErrLimit = errors.New("haven: memory limit reached")

// A Payer is told of every chunk that an arena takes and lets go. Its methods are
// called by the goroutine that uses the arena.
type Payer interface {
	// Charge takes note of more bytes in so many chunks, or refuses them.
	Charge(bytes, chunks int) bool
	// Refusal returns the error that the arena's user sees after a refusal;
	// requested are the bytes of the value or slice that the chunk was for.
	Refusal(requested int) error
	// Credit takes a charge back.
	Credit(bytes, chunks int)
	// Room returns how many bytes a Charge would be granted now.
	Room() int
	// Owner names the memory context in messages. It alone ends the arena.
	Owner() string
}

// What package arena can do for memory contexts and for nobody else. It sets
// these when it is initialised; their first argument is an *arena.Arena.
var (
	// Attach makes p pay for the arena's chunks, those it has included, or, if p
	// is nil, nobody. Where p refuses what the arena has, which must be all idle,
	// the arena lets go of it. made is where the context was made, or nil; with a
	// nil p that of before stays.
	Attach func(arena any, p Payer, made *leak.Site)

	// Configure sets what arena.Config has by these names, from now on.
	Configure func(arena any, firstChunk, retain int)

	// Leave is a Reset after which none of the memory is used again: the garbage
	// collector takes it once nothing refers to it.
	Leave func(arena any)

	// NewBump returns a new *bump.Arena for whose chunks p pays; LeaveBump is its
	// Reset after which none of the memory is used again, and EndBump its end.
	NewBump   func(name string, p Payer, made *leak.Site) any
	LeaveBump func(arena any)
	EndBump   func(arena any)

	// Holds reports whether the bytes of one of texts lie in the arena's memory.
	Holds func(arena any, texts []string) bool
)
