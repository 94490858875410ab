package arena

import (
	"slices"
	"sort"
	"sync"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/track"
)

// In the check build a lane knows where each of its allocations was made. A chunk that
// is taken back as a whole goes into quarantine; what a Release takes back stays
// poisoned in the open chunk until it is handed out again, when it is verified and
// cleared. In the other builds nothing of this file is part of the program.

// A shadow is what the check build knows of a lane.
type shadow struct {
	known  sync.Map     // *byte, the first of a chunk, to *chunkShadow, but for latest; survives misuse by two goroutines
	of     *byte        // that of the chunk that was asked for last
	latest *chunkShadow // that of this chunk
	next   *chunkShadow // for a chunk that is not known yet, or nil
	busy   check.Busy   // of a lane on its own
}

// A chunkShadow is what it knows of a chunk, whose free part is
//
//	lo ≤ poisoned < cleanLo ≤ zero < cleanHi ≤ poisoned < hi
type chunkShadow struct {
	low              []check.Mark // allocations from the low end, in their order
	high             []check.Site // those from the end down, of one element each
	void             []void       // what Releases took back, the latest last
	cleanLo, cleanHi int
}

// A void is a part of the open chunk that a Release took back.
type void struct {
	from, to int
	what     *check.Released
}

// begin begins an operation on the lane at a site. Nothing in it calls back: grow, which
// asks a payer, and callbacks are outside.
func (l *lane) begin(site func() check.Site) *check.Busy {
	if !check.Enabled {
		return nil
	}
	l.shadow.Get().busy.Original(l.owner)
	b := l.busy()
	b.Enter(site(), l.owner)
	return b
}

// busy is what finds that two goroutines use the lane, or its arena, at once.
func (l *lane) busy() *check.Busy {
	if l.a != nil {
		return l.a.busy.Get()
	}
	return &l.shadow.Get().busy
}

// shadowOf returns the shadow of a chunk, made at first use.
func (l *lane) shadowOf(first *byte, n int) *chunkShadow {
	own := l.shadow.Get()
	if own.of == first {
		return own.latest
	}
	if own.of != nil {
		own.known.Store(own.of, own.latest)
	}
	s := own.next
	if x, ok := own.known.Load(first); ok {
		s = x.(*chunkShadow)
	} else {
		if s == nil {
			s = new(chunkShadow)
		}
		own.next = nil
		s.cleanHi = n
	}
	own.of, own.latest = first, s
	return s
}

// shadowed reports whether there is anything to know.
func (l *lane) shadowed() bool {
	return check.Enabled && !l.heap && l.size > 0 && check.Poisons(l.name())
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
	if !check.Enabled || l.heap || l.size == 0 {
		return
	}
	site := check.Here(4)
	defer l.begin(func() check.Site { return site }).Exit()
	if !l.shadowed() {
		return
	}
	s := l.shadowOf(l.base(), l.n)
	l.reclaim(s, from, to)
	if to == l.at().lo {
		s.low = append(s.low, check.Mark{At: uint32(from), Site: site})
	} else {
		s.high = append(s.high, site)
	}
}

// noteLarge takes down that a chunk is handed out as a whole.
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
		for k := len(s.void) - 1; k >= 0; k-- {
			if x := s.void[k]; x.from <= i && i < x.to {
				if bad := x.what.DamageIn(i-x.from, i-x.from+1); bad != nil {
					bad.Now = check.Release().String()
					check.Raise(bad)
				}
				break
			}
		}
	}
}

// verifyFree looks at what is poisoned of the open chunk's free part.
func (l *lane) verifyFree() {
	if l.n > 0 && l.shadowed() {
		s := l.shadowOf(l.base(), l.n)
		l.verify(s, l.at().lo, min(l.at().i, s.cleanLo))
		l.verify(s, max(l.at().lo, s.cleanHi), l.at().i)
	}
}

// exchange shows the open chunk to the release of a Mark, and puts new memory in its
// place if it is told to. Nobody watches such a release but in the check build.
func (l *lane) exchange(r *track.Release) {
	if r == nil || l.n == 0 {
		return
	}
	l.verifyFree()
	if l.offerChunk(r, l.chunk(), l.at().lo, l.at().i) == track.Another {
		l.replace()
	}
}

// poisonOpen poisons what a Release to p took back from the open chunk, which had
// come to lo and hi and is zero there.
func (l *lane) poisonOpen(p position, lo, hi int) {
	if l.n == 0 || !l.shadowed() {
		return
	}
	s := l.shadowOf(l.base(), l.n)
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
	s.void = slices.DeleteFunc(s.void, func(x void) bool { return from <= x.from && x.to <= to })
	r := l.released(l.base(), from, to)
	r.Site, r.Marks, r.Ends = site, marks, ends
	r.Poison()
	s.void = append(s.void, void{from, to, r})
}

// marksFrom returns marks by the distance from an element.
func marksFrom(marks []check.Mark, from int) []check.Mark {
	list := slices.Clone(marks)
	for i := range list {
		list[i].At -= uint32(from)
	}
	return list
}

// endShadows forgets all chunks, which the lane may outlive.
func (l *lane) endShadows() {
	if check.Enabled {
		own := l.shadow.Get()
		own.known.Clear()
		own.of, own.latest, own.next = nil, nil, nil
	}
}

// endShadow gives what is known of a chunk to c, with which that goes into quarantine.
func (l *lane) endShadow(r *track.Release, c *check.Released) {
	own, first := l.shadow.Get(), (*byte)(c.Mem)
	s := l.shadowOf(first, c.N)
	c.Marks, c.Ends = s.low, s.high
	low, high := r.Lists()
	*s = chunkShadow{low: low, high: high}
	own.known.Delete(first)
	own.of, own.latest, own.next = nil, nil, s
}
