package arena

import (
	"fmt"
	"slices"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/stale"
)

// Stats describes an arena's memory in bytes. The numbers add up, for the
// arena and for each lane:
//
//	Reserved = InUse + Idle + Gaps
//
// and the arena's are the sums of its lanes'.
type Stats struct {
	Name      string
	InUse     int    // handed out since the last Reset
	Reserved  int    // taken from Go's heap in chunks
	Idle      int    // free in open, spare and clean chunks
	Gaps      int    // left over at the ends of chunks, until Reset
	HighWater int    // the most that was in use at one time
	Limit     int    // 0: none
	Chunks    int    // pieces taken from Go's heap
	Resets    uint64 // since the arena was made
	Stale     uint64 // found in memory that arenas of this name had released: see StalePointers of package check; 0 without a name
	Lanes     []LaneStats
}

// LaneStats describes the part of an arena that holds values of one type.
type LaneStats struct {
	Type     string // as %v prints it
	Size     int    // bytes of one value
	Count    int    // values handed out, each element of a slice counted
	InUse    int    // bytes: Count × Size
	Reserved int
	Idle     int
	Gaps     int
	Chunks   int
}

// Stats returns the arena's numbers. It costs a few nanoseconds for each chunk
// and allocates. For a nil or freed arena they are zero but for the name, the
// limit, the resets and the high-water mark.
func (a *Arena) Stats() Stats {
	if a == nil {
		return Stats{}
	}
	s := Stats{Name: a.name, Limit: a.seldom().limit, Resets: a.resets, HighWater: a.high, Stale: stale.Count("arena", a.name)}
	for l := a.lanes; l != nil; l = l.next {
		ls := l.stats()
		s.Lanes = append(s.Lanes, ls)
		s.InUse += ls.InUse
		s.Reserved += ls.Reserved
		s.Idle += ls.Idle
		s.Gaps += ls.Gaps
		s.Chunks += ls.Chunks
	}
	slices.Reverse(s.Lanes)
	s.HighWater = max(s.HighWater, s.InUse)
	return s
}

// String returns one line for the arena and one for each lane.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in use, %d reserved, high water %d, %s, %s",
		titleOf(s.Name), account.Count(s.InUse, "byte"), s.Reserved, s.HighWater, account.Count(s.Chunks, "chunk"), account.Count(s.Resets, "reset"))
	b.WriteString(stale.Also(s.Stale))
	for _, l := range s.Lanes {
		b.WriteString("\n\t" + l.String())
	}
	return b.String()
}

// String returns the lane's numbers in one line.
func (s LaneStats) String() string {
	return fmt.Sprintf("%s: %d × %s in use, %d reserved, %d idle, %d in gaps, %s",
		s.Type, s.Count, account.Count(s.Size, "byte"), s.Reserved, s.Idle, s.Gaps, account.Count(s.Chunks, "chunk"))
}

// String describes the arena in one line.
func (a *Arena) String() string {
	if a == nil {
		return a.title()
	}
	if a.state == freed {
		return a.title() + " (freed)"
	}
	head, _, _ := strings.Cut(a.Stats().String(), "\n")
	return head
}

// stats returns the lane's numbers.
func (l *lane) stats() LaneStats {
	s := LaneStats{Type: l.typ().String(), Size: l.size, Count: l.inUse(), Chunks: l.chunks()}
	idle := l.n
	if l.active {
		idle = l.free()
	}
	gaps := 0
	if r := l.others; r != nil {
		for _, f := range r.full {
			gaps += f.hi - f.lo
		}
		for _, b := range r.spare {
			idle += b.n
		}
	}
	s.InUse, s.Idle, s.Gaps = s.Count*l.size, idle*l.size, gaps*l.size
	s.Reserved = l.reserved() * l.size
	return s
}

// chunks returns the number of chunks.
func (l *lane) chunks() int {
	n := 0
	if l.n > 0 {
		n++
	}
	if r := l.others; r != nil {
		n += len(r.full) + len(r.large) + len(r.spare)
	}
	return n
}

// inUse returns the number of elements handed out.
func (l *lane) inUse() int {
	if !l.active {
		return 0
	}
	n := l.n - l.free()
	if l.others != nil {
		n += l.others.inUse()
	}
	return n
}

// inUse returns the number of elements handed out of these chunks.
func (r *further) inUse() int {
	n := r.largeLen
	for _, f := range r.full {
		n += f.lo + f.n - f.hi
	}
	return n
}

// usedBytes returns the bytes handed out.
func (l *lane) usedBytes() int { return l.inUse() * l.size }

// reserved returns the number of elements in all chunks.
func (l *lane) reserved() int {
	n := l.n
	if r := l.others; r != nil {
		for _, f := range r.full {
			n += f.n
		}
		for _, b := range r.spare {
			n += b.n
		}
		n += r.largeLen
	}
	return n
}
