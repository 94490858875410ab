package memctx

import (
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/account"
)

// Bump returns the context's untyped arena: memory of package bump, for large graphs
// that point only into themselves. The first call makes one, all others return it again.
// Its chunks count against the limits, and in all numbers, as those of [Context.Arena]
// do, and an allocation beyond a limit panics with, or returns, an [*arena.LimitError].
//
// It belongs to the context and ends with it: its own Free panics. Untyped memory that is
// handed out again may be another type's, so neither the context's Reset nor its end uses
// it again: it goes to the garbage collector, all of it together, when nothing points into
// it any more. The bump arena's own Reset does use it again: its caller vouches that
// nobody has a pointer into it.
//
// For a nil Context Bump returns nil, from which allocating panics: no heap of untyped
// memory stands in for it. Bump panics after Delete.
func (mc *Context) Bump() *bump.Arena {
	c := mc.ref()
	if c.node == nil {
		return nil
	}
	c.lockUsable("Bump")
	defer c.mu.Unlock()
	if c.untyped == nil {
		c.untyped = account.NewBump(c.kind.name, &c.ledger, c.site).(*bump.Arena)
	}
	return c.untyped
}
