package memctx

import (
	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
)

// spare has memory in which one of texts lies left to the garbage collector, instead
// of used again, when c and the contexts below it end or are reset the next time. It
// is for those who know that the texts are read after that. The caller has a lease.
func (c ref) spare(texts []string) {
	c.mu.Lock()
	c.spared = &texts
	children := c.children
	c.mu.Unlock()
	if children == 0 {
		return
	}
	structure.Lock()
	defer structure.Unlock()
	c.members(false, func(x *node) { x.spared = &texts })
}

// lieIn reports whether one of the texts lies in the memory of a. Whoever takes that
// back calls it, and no longer shares it.
func lieIn(a *arena.Arena, texts *[]string) bool {
	return texts != nil && account.Holds(a, *texts)
}
