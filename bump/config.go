package bump

import (
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/config"
)

// A Config has the settings of an arena made by [NewArena]. In the zero Config all are
// the default.
type Config struct {
	// Name is what panics, errors, statistics and reports show. The default is none.
	Name string

	// Limit bounds the bytes that the arena reserves in chunks. An allocation that would
	// exceed it panics with, or returns, a [*LimitError]. It is checked only when a chunk
	// is added. 0 means no bound; it must not be negative.
	Limit int

	// Retain bounds the bytes that stay with the arena over a Reset; a chunk above goes
	// to the garbage collector. It is the bound for programs that never collect: else
	// what was not needed since the last collection but one goes anyway. 0 means 64 MiB,
	// and -1 means that nothing stays; it must not be less.
	Retain int
}

// NewArena returns an arena with the settings of conf, of which there is one or none. It
// takes some 200 bytes; chunks are added as they are needed. It panics if a setting is out
// of its range; see [Config].
func NewArena(conf ...Config) *Arena {
	c := config.Optional("bump", "NewArena", conf)
	config.AtLeast("bump: Config.Limit", c.Limit, 0, "a number of bytes, 0 (no bound) or more")
	config.AtLeast("bump: Config.Retain", c.Retain, -1, "a number of bytes, 0 (the default), or -1 (nothing)")
	return &Arena{name: c.Name, limit: c.Limit, retain: c.Retain}
}

// retained returns the bytes that may stay over a Reset.
func (a *Arena) retained() int { return chunk.Retained(a.retain) }

// title names the arena in messages.
func (a *Arena) title() string { return titleOf(a.name) }
