package pool

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/stale"
)

// Stats describes a [Pool], a [Bytes] or a [Local]. While it is at rest the
// numbers add up:
//
//	InUse = Hits + Misses - Puts
//	Idle  = Cached + Depot
//	Puts  = Hits + Idle + Trimmed + Dropped()
//
// While other goroutines are at work in it, each number is right for some moment
// of the call. What is put without having been got counts as a put like any other,
// so InUse may be negative.
type Stats struct {
	Name string
	Type string // of an object, as %T prints it: a pointer

	Idle  int // objects that wait
	InUse int // objects that were got and not put, or whose Reset did not return
	// HighWater is the most objects that were in use at one time, or in the
	// magazines of the Ps: it is taken note of when an object is made and when a
	// magazine is fetched. So it is never too low, and too high by at most 114
	// for each P. For a Local it is exact.
	HighWater int
	Cached    int // idle objects in the magazines of the Ps
	Depot     int // idle objects in the depot
	Magazines int // of the Ps, and spare ones
	Bytes     int // what the idle objects count as: see Cost

	Max      int // objects; 0: no bound
	MaxBytes int // 0: no bound
	Floor    int // objects

	Hits    uint64 // Gets that returned an idle object
	Misses  uint64 // Gets that returned a new one
	Puts    uint64 // calls that did not refuse their argument
	Trimmed uint64 // idle objects let go by a step of trimming, or by Trim

	DroppedFull  uint64 // objects dropped by Put because of Max
	DroppedBytes uint64 // because of MaxBytes
	DroppedPanic uint64 // because Cost did not return or was negative; of a Local, because Reset did not
	DroppedSize  uint64 // because no size class takes such a buffer
	DroppedTwice uint64 // because they were idle already
	// DroppedWatched is how many the garbage collector got to see whether something
	// still refers to them: see StalePointers of package check.
	DroppedWatched uint64
	Stale          uint64 // what was found of that, in all pools of this name

	Classes []ClassStats // of a Bytes: the size classes in use, the smallest first
}

// ClassStats describes a size class of a [Bytes]. Its numbers are in buffers, and
// add up as those of [Stats] do.
type ClassStats struct {
	Size    int // bytes of a buffer
	Idle    int
	InUse   int
	Hits    uint64
	Misses  uint64
	Puts    uint64
	Trimmed uint64
	Dropped uint64
}

// Dropped returns how many objects were put and not kept, whatever the reason.
func (s Stats) Dropped() uint64 {
	return s.DroppedFull + s.DroppedBytes + s.DroppedPanic + s.DroppedSize + s.DroppedTwice + s.DroppedWatched
}

// String returns the numbers in one line.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s: %d in use, high water %d, %d idle (%d cached, %d in the depot) with %s, %s, %s, %s, %d trimmed, %d dropped",
		account.Title("pool", s.Name), s.Type, s.InUse, s.HighWater, s.Idle, s.Cached, s.Depot, account.Count(s.Bytes, "byte"),
		account.Count(s.Hits, "hit"), account.Count(s.Misses, "miss"), account.Count(s.Puts, "put"), s.Trimmed, s.Dropped())
	var why []string
	for _, r := range [...]struct {
		n   uint64
		why string
	}{
		{s.DroppedFull, "by Max"}, {s.DroppedBytes, "by MaxBytes"}, {s.DroppedPanic, "by panics"},
		{s.DroppedSize, "by size"}, {s.DroppedTwice, "put twice"}, {s.DroppedWatched, "watched"},
	} {
		if r.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", r.n, r.why))
		}
	}
	if why != nil {
		b.WriteString(" (" + strings.Join(why, ", ") + ")")
	}
	b.WriteString(stale.Also(s.Stale))
	return b.String()
}

// pools is the list of pools with a name.
var pools registry.List[self]

// Pools returns the numbers of each [Pool] and [Bytes] that has a name and is
// alive, in the order in which they were made. The list keeps none alive.
func Pools() iter.Seq[Stats] {
	return func(yield func(Stats) bool) {
		for s := range pools.All() {
			if !yield(s.b.stats()) {
				return
			}
		}
	}
}

// stats is Stats.
func (b *budget) stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Stats{
		Name: b.name, Type: b.typ, HighWater: b.high, Depot: b.held,
		Max: bound(b.max), MaxBytes: bound(b.maxBytes), Floor: b.floor,
		Misses: b.large.misses, Puts: b.large.puts, DroppedSize: b.large.dropped,
		Stale: stale.Count("pool", b.name),
	}
	for _, d := range b.depots {
		c := d.stats(&s)
		if b.classed {
			s.Classes = append(s.Classes, c)
		}
	}
	slices.Reverse(s.Classes)
	s.Idle = s.Cached + s.Depot
	s.InUse = int(s.Hits + s.Misses - s.Puts)
	return s
}

// bound returns a bound as users know it.
func bound(n int) int {
	if n == none {
		return 0
	}
	return n
}

// stats adds the depot's numbers to s.
func (d *depot) stats(s *Stats) ClassStats {
	c := ClassStats{
		Size: d.size, Idle: len(d.idle), Hits: d.hits, Misses: d.misses, Puts: d.puts, Trimmed: d.trimmed,
		Dropped: d.droppedFull + d.droppedBytes + d.droppedPanic + d.droppedTwice + d.droppedWatched,
	}
	s.Bytes += d.bytes
	for m := d.spare; m != nil; m = m.Next {
		s.Magazines++
	}
	d.cells.Walk(func(m *magazine.Magazine) {
		n, pops, pushes := m.Peek()
		c.Idle += n
		c.Hits += uint64(pops)
		c.Puts += uint64(pushes)
		s.Magazines++
		s.Cached += n
		if d.costed {
			s.Bytes += m.PeekBytes()
		} else {
			s.Bytes += n * d.size
		}
	})
	n, bytes := d.waits.Waiting() // what waits is idle
	c.Idle += n
	c.Puts += uint64(n)
	s.Cached += n
	s.Bytes += bytes
	c.InUse = int(c.Hits + c.Misses - c.Puts)
	s.Hits += c.Hits
	s.Misses += c.Misses
	s.Puts += c.Puts
	s.Trimmed += d.trimmed
	s.DroppedFull += d.droppedFull
	s.DroppedBytes += d.droppedBytes
	s.DroppedPanic += d.droppedPanic
	s.DroppedTwice += d.droppedTwice
	s.DroppedWatched += d.droppedWatched
	return c
}
