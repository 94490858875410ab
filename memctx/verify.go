package memctx

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
)

// open describes the contexts that were neither deleted nor abandoned, or that a lease
// still holds. It returns "" if there are none.
func open() string {
	all := takeCensus(ref{})
	if len(all.entries) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString(account.Count(len(all.entries), "open context") + ":")
	for i := range all.entries {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(all.entries)-most)
			break
		}
		e := &all.entries[i]
		fmt.Fprintf(&b, "\n%v", e.stats(e.c.path()))
	}
	for i := range all.entries {
		if e := &all.entries[i]; e.c.where() != nil {
			fmt.Fprintf(&b, "\n%s was made at\n%s", e.c.path(), e.c.where().Stack())
			if i >= most {
				break
			}
		}
	}
	return b.String()
}

// where returns where the context was made, if that was sampled.
func (c ref) where() *leak.Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holds() {
		return nil
	}
	return c.site
}
