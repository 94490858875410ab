package memctx

import (
	"fmt"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
)

// Usage is memory in the chunks of arenas.
type Usage struct {
	Bytes     int // in chunks, whether handed out or not
	Chunks    int
	HighWater int // the most bytes at one time
}

// Stats describes a context. For each context the numbers add up, while nobody
// is at work in the tree:
//
//	Total.Bytes = Own.Bytes + Total.Bytes of the children
//
// and so do chunks. The high water of a subtree is exact where there is a Limit or a
// Reserve. Elsewhere it is the sum of the high waters of what is in it now, which
// may be more than was ever in use at one time.
type Stats struct {
	Name     string
	Ident    string
	Path     string // server/conn[17]/request
	Own      Usage  // of the context's own arena
	Total    Usage  // with the contexts below it
	Limit    int    // bytes for the subtree; 0: none
	Reserve  int    // bytes set aside in the limits above by Reserve
	Children int    // direct ones
	Contexts int    // in the subtree, itself included
	Leases   int
	Resets   uint64
	Deleted  bool // deleted, and held by a lease
	Created  time.Time
	Age      time.Duration // 0 if it was made by another clock: that of a bubble of testing/synctest
}

// NameStats describes all contexts of one name. While nobody is at work, and but
// for what was below a dropped root,
//
//	Created = Live + Deleted + Abandoned + Dropped
type NameStats struct {
	Name        string
	Live        int    // in trees, those held by leases included
	Held        int    // of those, deleted ones that leases hold
	Usage              // of the live ones' own arenas; HighWater is the most that one context ever had
	Created     uint64 // since the program's start, as are those that follow
	Deleted     uint64 // and ended
	Abandoned   uint64
	Dropped     uint64 // roots left to the garbage collector without Delete
	LimitErrors uint64 // at a limit of a context of this name
	Stale       uint64 // found in memory that arenas of this name had released: see StalePointers of package check
	Warm        arena.PoolStats
}

// Stats returns the context's numbers. It costs a step for each context below,
// and none for what is allocated in them. It may be called from any goroutine;
// while others are at work, each number is right for some moment of the call.
// For a nil Context they are zero, and for a deleted one
// most of them, once its place is another's.
func (mc *Context) Stats() Stats {
	c := mc.ref()
	if c.node == nil {
		return Stats{}
	}
	e := &takeCensus(c).entries[0]
	return e.stats(c.path())
}

// stats returns what Stats does.
func (e *entry) stats(path string) Stats {
	c := e.c
	s := Stats{Name: c.kind.name, Path: path, Own: e.own, Total: e.total, Children: e.children, Contexts: e.contexts}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holds() {
		return s
	}
	s.Ident, s.Limit, s.Leases = c.settings.Ident, c.settings.Limit, c.leases
	s.Resets, s.Created, s.Age = c.resets, c.created.Wall(), c.created.Age()
	s.Deleted = c.is(ended) || c.is(ending)
	c.ledger.acct.Lock()
	s.Reserve = c.ledger.reserve
	c.ledger.acct.Unlock()
	return s
}

// String returns the numbers in one line.
func (s Stats) String() string {
	line := fmt.Sprintf("%s: %s in %s", s.Path, account.Count(s.Own.Bytes, "byte"), account.Count(s.Own.Chunks, "chunk"))
	if s.Contexts > 1 {
		line += fmt.Sprintf(", %d in %d with %s below", s.Total.Bytes, s.Total.Chunks, account.Count(s.Contexts-1, "context"))
	}
	line += fmt.Sprintf(", high water %d", s.Total.HighWater)
	if s.Limit > 0 {
		line += fmt.Sprintf(", limit %d", s.Limit)
	}
	if s.Reserve > 0 {
		line += fmt.Sprintf(", %d set aside", s.Reserve)
	}
	if s.Leases > 0 {
		line += ", " + account.Count(s.Leases, "lease")
	}
	if s.Deleted {
		line += ", deleted"
	}
	return line + fmt.Sprintf(", %s, %v old", account.Count(s.Resets, "reset"), s.Age.Round(time.Millisecond))
}
