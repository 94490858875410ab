package bump

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
)

// Stats describes an allocator's memory in bytes. The numbers add up:
//
//	Reserved = InUse + Idle + Gaps + Overhead
type Stats struct {
	Name      string
	InUse     int    // handed out since the last Reset, padding included
	Reserved  int    // taken from Go's heap in chunks
	Idle      int    // free in the open chunk, or in the one kept over a Reset
	Gaps      int    // left over in chunks that were left
	Overhead  int    // the chunks' own words
	HighWater int    // the most that was in use at one time
	Chunks    int    // pieces taken from Go's heap
	Resets    uint64 // since the arena was made
	Limit     int    // bytes; 0: none
}

// Stats returns the arena's numbers. It costs a few nanoseconds for each chunk.
// For a nil, unused or freed arena they are zero but for the resets and the
// high-water mark.
func (a *Arena) Stats() Stats {
	if a == nil {
		return Stats{}
	}
	s := Stats{Name: a.name, Limit: a.limit, Resets: a.resets, HighWater: int(a.high)}
	if a.root == nil {
		return s
	}
	s.Chunks = len(a.root.chunks)
	s.InUse = int(a.inUse())
	for _, b := range a.root.chunks {
		s.Reserved += int(b.size + overhead)
		s.Overhead += int(overhead + b.zones())
		if a.open.data == nil || b.data == a.open.data {
			s.Idle += int(b.hi - b.lo)
		} else {
			s.Gaps += int(b.hi - b.lo)
		}
	}
	s.HighWater = max(s.HighWater, s.InUse)
	return s
}

// inUse brings the root's list up to date and returns the bytes handed out.
func (a *Arena) inUse() uintptr { return a.spent() - a.zones() }

// zones returns the bytes of the red zones of the check build.
func (a *Arena) zones() (n uintptr) {
	if check.Enabled {
		for i := range a.root.chunks {
			n += a.root.chunks[i].zones()
		}
	}
	return n
}

// spent is inUse with the red zones of the check build.
func (a *Arena) spent() uintptr {
	a.leave()
	n := uintptr(0)
	for _, b := range a.root.chunks {
		n += b.lo + b.size - b.hi
	}
	return n
}

// String returns the numbers in one line.
func (s Stats) String() string {
	return fmt.Sprintf("%s in use, %d reserved, %d idle, %d in gaps, %d overhead, high water %d, %s, %s", account.Count(s.InUse, "byte"),
		s.Reserved, s.Idle, s.Gaps, s.Overhead, s.HighWater, account.Count(s.Chunks, "chunk"), account.Count(s.Resets, "reset"))
}

// String describes the arena in one line.
func (a *Arena) String() string {
	switch {
	case a == nil:
		return "nil bump arena"
	case a.freed:
		return fmt.Sprintf("%s (freed, high water %s, %s)", strings.TrimPrefix(a.title(), "a "), account.Count(a.high, "byte"), account.Count(a.resets, "reset"))
	}
	return strings.TrimPrefix(a.title(), "a ") + ": " + a.Stats().String()
}
