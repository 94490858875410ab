package track

import (
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
)

// An Owner is who releases memory, as findings call it.
type Owner struct {
	Kind, Name string
	Made       *leak.Site                       // where it was made, or nil
	Title      func() string                    // in reports
	Judge      func() (judged func(alive bool)) // see stale.Release; may be nil
	Busy       *check.Busy                      // what finds two goroutines at once; nil in builds that do not
	Type       reflect.Type                     // of its objects, if it hands them out one by one

	// Of memory without types.
	Untyped bool
	Head    int // bytes before a chunk's memory, in the same object of the heap
	Beside  int // bytes in the object that are not the chunk's memory, those included
}

// A Release is memory that one owner takes back at one time, and is watched. A nil Release
// is one that nobody watches.
type Release struct {
	owner Owner
	due   Due
	one   int  // of the owner's parts this one is watched; -1: each
	drops bool // nothing is watched, and nothing used again
	stale *stale.Release

	list []check.Released // what goes into quarantine
	site check.Site
}

// Begin returns the release by the goroutine that calls it, of an owner with so many
// parts, of which it chooses one, unless each release is watched.
func Begin(d Due, o Owner, parts int, bytes func(part int) int) *Release {
	r := &Release{owner: o, due: d, one: -1}
	if check.Enabled {
		r.site, r.list = check.Release(), check.Room()
		return r
	}
	if atomic.LoadUint32(&each) == 0 {
		r.one = rand.IntN(parts)
	}
	if d&Stale != 0 && r.one >= 0 && !stale.Affords(bytes(r.one)) {
		r.due &^= Stale
	}
	return r
}

// Trial returns a release of which all is watched for stale pointers, and nothing used again.
func Trial(o Owner) *Release { return &Release{owner: o, due: Stale, one: -1} }

// Unwatched returns a release of which nothing is watched, nor used again.
func Unwatched() *Release { return dropped }

var dropped = &Release{one: -1, drops: true}

// Drops reports whether the release need not be shown what nobody uses again anyway.
func (r *Release) Drops() bool { return r.drops }

// Of returns the release for one of the owner's parts, nil if that is not watched.
func (r *Release) Of(part int) *Release {
	if r == nil || r.one >= 0 && r.one != part {
		return nil
	}
	return r
}

// Guards reports whether the memory that is used next is to be guarded.
func (r *Release) Guards() bool { return r != nil && r.due&Guard != 0 }

// Site returns where the release was made. It is for the check build.
func (r *Release) Site() check.Site { return r.site }

// An Answer says what an allocator may use in place of a chunk that it takes back.
type Answer uint8

const (
	Itself  Answer = iota
	Another        // another of the same size
	Nothing        // none: what it uses next has the size that it needs
)

// Chunk shows the release a chunk that is an object of Go's heap, and all zero. The check
// build says of which it has checks.
func (r *Release) Chunk(c *check.Released, checks bool) Answer {
	switch {
	case check.Enabled && checks:
		c.Owner, c.Site = r.owner.Title(), r.site
		r.list = append(r.list, *c)
		r.list[len(r.list)-1].Poison()
		return Another
	case r.due&Stale != 0:
		r.Here()
		r.owner.add(r.stale, c)
		return Nothing
	}
	return Itself
}

// Drop returns the release of memory that the owner leaves to the collector in any case,
// of which some is watched.
func Drop(o Owner) *Release { return &Release{owner: o, due: Stale} }

// Here takes down where the release is made, which else the first piece does that is
// watched. It costs about a microsecond.
func (r *Release) Here() *Release {
	if r.stale == nil {
		r.stale = stale.Begin(r.owner.Kind, r.owner.Name, r.owner.Made)
		r.stale.Judge(r.owner.Judge)
	}
	return r
}

// Add has an object of Go's heap watched that begins at p, and has so many bytes of
// values of the type.
func (r *Release) Add(typ string, p unsafe.Pointer, bytes int) {
	r.Here().stale.Add(typ, (*byte)(p), bytes) // SAFETY: it is for a weak pointer (GC.md fact 21)
}

// Lists returns lists without elements that the marks of another chunk can have: those
// of what left the quarantine. It is for the check build.
func (r *Release) Lists() (marks []check.Mark, ends []check.Site) {
	if n := len(r.list); n < cap(r.list) {
		old := &r.list[:n+1][n]
		marks, ends = old.Marks[:0], old.Ends[:0]
	}
	return marks, ends
}

// End ends the release: the owner has let go of what it was told to.
func (r *Release) End() {
	if r == nil {
		return
	}
	r.stale.Watch()
	if check.Enabled && len(r.list) > 0 {
		r.owner.Busy.Enter(r.site, r.owner.Title)
		defer r.owner.Busy.Exit()
		check.Retire(check.Retired{List: r.list, Left: r.later()})
	}
}

// add has the object of a chunk watched.
func (o *Owner) add(r *stale.Release, c *check.Released) {
	typ := "untyped memory"
	if !o.Untyped {
		typ = c.Type.String()
	}
	r.Add(typ, addr.Memory(addr.Add(addr.Memory(c.Mem), -o.Head)), c.Bytes()+o.Beside)
}

// later returns what watches for stale pointers when the memory has left the quarantine,
// or nil.
func (r *Release) later() func([]check.Released) {
	if !stale.Each() {
		return nil
	}
	o, site, now := r.owner, r.site, clock.Now()
	o.Title, o.Busy = nil, nil // which would keep it alive
	return func(list []check.Released) {
		w := stale.BeginAt(site, now, o.Kind, o.Name, o.Made, len(list))
		w.Judge(o.Judge)
		for i := range list {
			o.add(w, &list[i])
		}
		w.Watch()
	}
}
