//go:build haven_check

package arena

import (
	"slices"
	"sort"
	"sync"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
)

// In the check build a lane knows where each of its allocations was made, and what
// it takes back is poisoned: whole chunks go into quarantine at a Reset, and a chunk
// of the same length takes their place, so that all numbers are as in the default
// build; what a Release takes back stays poisoned in the open chunk until it is
// handed out again, when it is verified and cleared.

// A shadow is what the check build knows of a lane.
type shadow struct {
	known  sync.Map     // *byte, the first of a chunk, to *chunkShadow, but for latest; survives misuse by two goroutines
	of     *byte        // that of the chunk that was asked for last
	latest *chunkShadow // that of this chunk
	next   *chunkShadow // for a chunk that is not known yet, or nil
	own    retirement   // of a lane on its own
	busy   check.Busy   // the same
}

// An arenaShadow is what it knows of an arena.
type arenaShadow struct {
	busy check.Busy
	all  retirement
}

// A retirement is what the release under way puts into quarantine.
type retirement struct {
	list  []check.Released
	site  check.Site
	owner string
}

// retirement returns that of the lane or of its arena, begun.
func (l *lane) retirement() *retirement {
	r := &l.own
	if l.a != nil {
		r = &l.a.all
	}
	r.start(l.owner)
	return r
}

// start begins a retirement, if none is under way.
func (r *retirement) start(owner func() string) {
	if len(r.list) > 0 {
		return
	}
	r.site = check.Release()
	if r.owner == "" {
		r.owner = owner()
	}
	if cap(r.list) == 0 {
		r.list = check.Room()
	}
}

// put adds a piece of memory, which is zero, and poisons it. It returns lists for the
// marks of another.
func (r *retirement) put(x check.Released) (marks []check.Mark, ends []check.Site) {
	n := len(r.list)
	if n < cap(r.list) {
		old := &r.list[:n+1][n]
		marks, ends = old.Marks, old.Ends
	}
	x.Owner, x.Site = r.owner, r.site
	r.list = append(r.list, x)
	r.list[n].Poison()
	return marks, ends
}

// end puts all into quarantine. They are watched when they leave it. A nil arena is that
// of a lane on its own.
func (r *retirement) end(a *Arena, busy *check.Busy) {
	if len(r.list) == 0 {
		return
	}
	x := check.Retired{List: r.list}
	if stale.Each() {
		what, name, made, site, now := "lane", "", (*leak.Site)(nil), r.site, clock.Now()
		if a != nil {
			what, name, made = "arena", a.name, a.made
		}
		x.Left = func(list []check.Released) {
			w := stale.BeginAt(site, now, what, name, made, len(list))
			for i := range list {
				m := &list[i]
				w.Add(m.Type.String(), addr.Memory(m.Mem), m.N*int(m.Type.Size()))
			}
			w.Watch()
		}
	}
	r.list = nil
	busy.Enter(r.site, func() string { return r.owner })
	defer busy.Exit()
	check.Retire(x)
}

// endRelease ends what a Reset or Release takes back.
func (a *Arena) endRelease() { a.all.end(a, &a.busy) }

// endRelease ends what a Reset of the lane by itself takes back.
func (l *lane) endRelease() {
	if l.a != nil {
		l.a.endRelease()
	} else {
		l.own.end(nil, &l.busy)
	}
}

// begin begins an operation on the lane at a site. Nothing in it calls back: grow, which
// asks a payer, and callbacks are outside.
func (l *lane) begin(site check.Site) *check.Busy {
	b := &l.busy
	if l.a != nil {
		b.Original(l.owner)
		b = &l.a.busy
	}
	b.Enter(site, l.owner)
	return b
}

// A chunkShadow is what it knows of a chunk, whose free part is
//
//	lo ≤ poisoned < cleanLo ≤ zero < cleanHi ≤ poisoned < hi
type chunkShadow struct {
	low              []check.Mark // allocations from the low end, in their order
	high             []check.Site // those from the end down, of one element each
	voided           []voided     // what Releases took back, the latest last
	cleanLo, cleanHi int
}

// A voided is a part of the open chunk that a Release took back.
type voided struct {
	from, to int
	what     *check.Released
}

// shadowOf returns the shadow of a chunk, made at first use.
func (l *lane) shadowOf(first *byte, n int) *chunkShadow {
	if l.of == first {
		return l.latest
	}
	if l.of != nil {
		l.known.Store(l.of, l.latest)
	}
	s := l.next
	if x, ok := l.known.Load(first); ok {
		s = x.(*chunkShadow)
	} else {
		if s == nil {
			s = new(chunkShadow)
		}
		l.next = nil
		s.cleanHi = n
	}
	l.of, l.latest = first, s
	return s
}

// shadowed reports whether there is anything to know.
func (l *lane) shadowed() bool {
	return !l.heap && l.size > 0 && check.Poisons(l.name())
}

// name returns the name that patterns choose by.
func (l *lane) name() string {
	if l.a == nil {
		return ""
	}
	return l.a.name
}

// noteNew takes down that elements of the open chunk are handed out.
func (l *lane) noteNew(from, to int) {
	if from == to || l.heap || l.size == 0 {
		return
	}
	site := check.Here(3)
	defer l.begin(site).Exit()
	if !l.shadowed() {
		return
	}
	s := l.shadowOf(l.base, l.n)
	l.reclaim(s, from, to)
	if to == *l.lo {
		s.low = append(s.low, check.Mark{At: uint32(from), Site: site})
	} else {
		s.high = append(s.high, site)
	}
}

func (l *lane) noteLarge(b block) {
	if l.shadowed() {
		s := l.shadowOf(b.base(), b.n)
		s.low = append(s.low, check.Mark{Site: check.Here(3)})
	}
}

// reclaim makes elements of the open chunk zero that are handed out again, after a
// look at their poison.
func (l *lane) reclaim(s *chunkShadow, from, to int) {
	l.verify(s, from, min(to, s.cleanLo))
	l.verify(s, max(from, s.cleanHi), to)
	if from < s.cleanLo || to > s.cleanHi {
		l.do(opClear, block{}, from, to)
	}
	if from < s.cleanHi && to > s.cleanLo { // what was zero is not known to be any more
		if to <= s.cleanHi && from <= s.cleanLo {
			s.cleanLo = to
		} else {
			s.cleanHi = from
		}
	}
}

// verify looks at poisoned elements of the open chunk.
func (l *lane) verify(s *chunkShadow, from, to int) {
	for i := from; i < to; i++ {
		for k := len(s.voided) - 1; k >= 0; k-- {
			if x := s.voided[k]; x.from <= i && i < x.to {
				if bad := x.what.DamageIn(i-x.from, i-x.from+1); bad != nil {
					bad.Now = check.Release().String()
					check.Raise(bad)
				}
				break
			}
		}
	}
}

// poisonOpen poisons what a Release to p took back from the open chunk, which had
// come to lo and hi and is zero there.
func (l *lane) poisonOpen(p position, lo, hi int) {
	if !l.shadowed() || l.n == 0 {
		return
	}
	s := l.shadowOf(l.base, l.n)
	site := check.Release()
	low := sort.Search(len(s.low), func(k int) bool { return int(s.low[k].At) >= p.lo })
	high := l.n - p.hi
	l.poison(s, p.lo, lo, site, marksFrom(s.low[low:], p.lo), nil)
	l.poison(s, hi, p.hi, site, nil, slices.Clone(s.high[high:]))
	s.low, s.high = s.low[:low], s.high[:high]
	s.cleanLo, s.cleanHi = max(s.cleanLo, lo), min(s.cleanHi, hi)
}

// poison poisons a part of the open chunk.
func (l *lane) poison(s *chunkShadow, from, to int, site check.Site, marks []check.Mark, ends []check.Site) {
	if from >= to {
		return
	}
	s.voided = slices.DeleteFunc(s.voided, func(x voided) bool { return from <= x.from && x.to <= to })
	r := l.released(l.base, from, to)
	r.Site, r.Marks, r.Ends = site, marks, ends
	r.Poison()
	s.voided = append(s.voided, voided{from, to, r})
}

// marksFrom returns marks by the distance from an element.
func marksFrom(marks []check.Mark, from int) []check.Mark {
	list := slices.Clone(marks)
	for i := range list {
		list[i].At -= uint32(from)
	}
	return list
}

// retireAll puts all that is in use into quarantine, and new memory in the place of
// the open chunk. It reports whether there is anything to put there.
func (l *lane) retireAll() bool {
	if !l.active || !l.shadowed() {
		return false
	}
	defer l.begin(l.retirement().site).Exit()
	l.retireOpen()
	if l.rest != nil {
		for _, x := range l.rest.full {
			l.retire(x.block, x.lo, x.hi)
		}
		for _, b := range l.rest.large {
			l.retireLarge(b)
		}
	}
	*l.lo, *l.i = 0, l.n // clean
	return true
}

// retireOpen puts the open chunk into quarantine, and new memory in its place.
func (l *lane) retireOpen() {
	if l.n == 0 || !l.shadowed() {
		return
	}
	s, lo, hi := l.shadowOf(l.base, l.n), *l.lo, *l.i
	l.verify(s, lo, min(hi, s.cleanLo))
	l.verify(s, max(lo, s.cleanHi), hi)
	l.retire(l.chunk(), lo, hi)
	l.replace()
}

func (l *lane) retireLarge(b block) {
	if b.n > 0 {
		l.retire(b, b.n, b.n)
	}
}

// retire puts [0, lo) and [hi, n) of a chunk into quarantine.
func (l *lane) retire(b block, lo, hi int) {
	if !l.shadowed() {
		return
	}
	b.clear(0, lo)
	b.clear(hi, b.n)
	s := l.shadowOf(b.base(), b.n)
	r := l.released(b.base(), 0, b.n)
	r.Marks, r.Ends, r.From, r.To = s.low, s.high, lo, hi
	low, high := l.retirement().put(*r)
	*s = chunkShadow{low: low, high: high}
	l.known.Delete(b.base())
	l.of, l.latest, l.next = nil, nil, s
}
