package memctx

import (
	"sync/atomic"

	"github.com/haven-mem/haven/internal/leak"
)

// The contexts' part in the leak finder (check.Leaks). It finds roots that the program
// dropped without ending them, which costs a cleanup for each root; contexts that are
// larger at each of many resets, which costs a comparison for each; and contexts that
// are older than their MaxAge, which costs a step for each context when somebody
// looks. Where a context was made is known of those that were sampled, the first four of
// each name among them.

func init() { leak.Contexts.Age, leak.Contexts.Open = watchAges, open }

// watchAges reports the contexts that are older than they may be.
func watchAges() {
	if aging.Load() {
		all := takeCensus(ref{})
		for i := range all.entries {
			all.entries[i].c.watchAge(all.entries[i].total.Bytes)
		}
	}
}

// growsAfter is at how many resets in a row a context must have been larger than
// at the one before.
const growsAfter = 32

// growth is what the leak finder remembers of a context from reset to reset.
type growth struct {
	bytes  int
	streak int
}

// watchGrowth is called at each reset of the context, and at those of its parent
// that a lease made it survive.
func (c *node) watchGrowth() {
	c.mu.Lock()
	c.ledger.acct.Lock()
	bytes := c.ledger.own.Bytes
	c.ledger.acct.Unlock()
	if bytes > c.growth.bytes {
		c.growth.streak++
	} else {
		c.growth.streak = 0
	}
	c.growth.bytes = bytes
	grows := c.growth.streak == growsAfter
	if grows {
		c.growth.streak = 0
	}
	c.mu.Unlock()
	if grows {
		leak.Report(leak.Grows, "context", c.kind.name, c.handle().path(), bytes, c.created.Age(), c.site)
	}
}

// watchHeld is watchGrowth of the children that a lease made survive a reset.
func (c *node) watchHeld() {
	var held []*node
	c.mu.Lock()
	for x := c.first; x != nil; x = x.next {
		if x.state() == ended {
			held = append(held, x)
		}
	}
	c.mu.Unlock()
	for _, x := range held {
		x.watchGrowth()
	}
}

// aging is set once there was a context with a MaxAge.
var aging atomic.Bool

// watchAge reports the context, which has so many bytes with what is below it, if
// it is older than it may be, once.
func (c ref) watchAge(bytes int) {
	c.mu.Lock()
	most, age, site := c.settings.MaxAge, c.created.Age(), c.site
	old := c.holds() && most > 0 && age > most && !c.aged
	c.aged = c.aged || old
	c.mu.Unlock()
	if old {
		leak.Report(leak.Old, "context", c.kind.name, c.path(), bytes, age, site)
	}
}
