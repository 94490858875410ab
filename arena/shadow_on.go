//go:build haven_check

package arena

import (
	"reflect"
	"slices"
	"sort"
	"time"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/leak"
)

// In the check build a lane knows where each of its allocations was made, and what
// it takes back is poisoned: whole chunks go into quarantine at a Reset, and a chunk
// of the same length takes their place, so that all numbers are as in the default
// build; what a Release takes back stays poisoned in the open chunk until it is
// handed out again, when it is verified and cleared.

// A shadow is what the check build knows of a lane.
type shadow[T any] struct {
	known  map[*T]*chunkShadow // by first element
	of     *T                  // first element of the chunk that was asked for last
	latest *chunkShadow        // that of this chunk
	marks  int                 // allocations of a chunk in the round before
	busy   check.Busy          // of a lane on its own
}

// An arenaShadow is what it knows of an arena.
type arenaShadow struct{ busy check.Busy }

// begin begins an operation on the lane at a site. Nothing in it calls back: grow, which
// asks a payer, and callbacks are outside.
func (l *Lane[T]) begin(site check.Site) *check.Busy {
	b := &l.busy
	if l.a != nil {
		b = &l.a.busy
	}
	b.Enter(site, l.owner)
	return b
}

// A chunkShadow is what it knows of a chunk, whose free part is
//
//	lo ≤ poisoned < cleanLo ≤ zero < cleanHi ≤ poisoned < hi
type chunkShadow struct {
	low, high        []check.Mark // allocations from either end, in their order
	stale            []stale      // what Releases took back, the latest last
	cleanLo, cleanHi int
}

// A stale is a part of the open chunk that a Release took back.
type stale struct {
	from, to int
	what     *check.Released
}

// shadowOf returns the shadow of a chunk, made at first use.
func (l *Lane[T]) shadowOf(buf []T) *chunkShadow {
	first := &buf[0]
	if l.of == first {
		return l.latest
	}
	s := l.known[first]
	if s == nil {
		s = &chunkShadow{cleanHi: len(buf)}
		if l.known == nil {
			l.known = make(map[*T]*chunkShadow)
		}
		if l.marks > 0 {
			s.high = make([]check.Mark, 0, l.marks)
		}
		l.known[first] = s
	}
	l.of, l.latest = first, s
	return s
}

// unknown drops the shadow of a chunk.
func (l *Lane[T]) unknown(buf []T) {
	delete(l.known, &buf[0])
	l.of, l.latest = nil, nil
}

// shadowed reports whether there is anything to know.
func (l *Lane[T]) shadowed() bool {
	return !l.heap && l.size() > 0 && check.Poisons(l.name())
}

// name returns the name that patterns choose by.
func (l *Lane[T]) name() string {
	if l.a == nil {
		return ""
	}
	return l.a.name
}

func (l *Lane[T]) newChecked() *T {
	if l.i == 0 {
		l.grow()
	}
	if l.heap || l.size() == 0 {
		l.i--
		return &l.free[l.i]
	}
	site := check.Here(2)
	defer l.begin(site).Exit()
	l.i--
	p := &l.free[l.i]
	if l.shadowed() {
		_, at := l.bounds()
		s := l.shadowOf(l.buf)
		l.reclaim(s, at, at+1)
		s.high = append(s.high, check.Mark{At: uint32(at), Site: site})
	}
	return p
}

// noteSlice takes down that the last n elements below the free part were handed
// out.
func (l *Lane[T]) noteSlice(n int) {
	if n == 0 || !l.shadowed() {
		return
	}
	site := check.Here(2)
	defer l.begin(site).Exit()
	lo, _ := l.bounds()
	s := l.shadowOf(l.buf)
	l.reclaim(s, lo-n, lo)
	s.low = append(s.low, check.Mark{At: uint32(lo - n), Site: site})
}

func (l *Lane[T]) noteLarge(buf []T) {
	if l.shadowed() {
		s := l.shadowOf(buf)
		s.low = append(s.low, check.Mark{Site: check.Here(2)})
	}
}

// reclaim makes elements of the open chunk zero that are handed out again, after a
// look at their poison.
func (l *Lane[T]) reclaim(s *chunkShadow, from, to int) {
	l.verify(s, from, min(to, s.cleanLo))
	l.verify(s, max(from, s.cleanHi), to)
	if from < s.cleanLo || to > s.cleanHi {
		clear(l.buf[from:to])
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
func (l *Lane[T]) verify(s *chunkShadow, from, to int) {
	for i := from; i < to; i++ {
		for k := len(s.stale) - 1; k >= 0; k-- {
			if x := s.stale[k]; x.from <= i && i < x.to {
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
func (l *Lane[T]) poisonOpen(p position, lo, hi int) {
	if !l.shadowed() || len(l.buf) == 0 {
		return
	}
	s := l.shadowOf(l.buf)
	site := check.Release()
	low := sort.Search(len(s.low), func(k int) bool { return int(s.low[k].At) >= p.lo })
	high := sort.Search(len(s.high), func(k int) bool { return int(s.high[k].At) < p.hi })
	l.poison(s, p.lo, lo, marksIn(s.low[low:], p.lo), site)
	l.poison(s, hi, p.hi, marksIn(s.high[high:], hi), site)
	s.low, s.high = s.low[:low], s.high[:high]
	s.cleanLo, s.cleanHi = max(s.cleanLo, lo), min(s.cleanHi, hi)
}

func (l *Lane[T]) poison(s *chunkShadow, from, to int, marks []check.Mark, site check.Site) {
	if from >= to {
		return
	}
	s.stale = slices.DeleteFunc(s.stale, func(x stale) bool { return from <= x.from && x.to <= to })
	r := check.Of(l.buf[from:to], l.owner(), marks, site)
	r.Poison()
	s.stale = append(s.stale, stale{from, to, r})
}

// marksIn returns marks by the distance from an element, in ascending order.
func marksIn(marks []check.Mark, from int) []check.Mark {
	list := make([]check.Mark, len(marks))
	for i, m := range marks {
		list[i] = check.Mark{At: m.At - uint32(from), Site: m.Site}
	}
	if n := len(list); n > 1 && list[0].At > list[n-1].At { // from the high end
		slices.Reverse(list)
	}
	return list
}

// retireAll puts all that is in use into quarantine, and new memory in the place of
// the open chunk. It reports whether there is anything to put there.
func (l *Lane[T]) retireAll() bool {
	if !l.active {
		return false
	}
	defer l.begin(check.Release()).Exit()
	lo, hi := l.bounds()
	l.retireOpen(lo, hi)
	if l.rest != nil {
		for _, x := range l.rest.full {
			l.retire(x.buf, x.lo, x.hi)
		}
		for _, buf := range l.rest.large {
			l.retireLarge(buf)
		}
	}
	clear(l.known)
	l.of, l.latest = nil, nil
	return l.shadowed()
}

// retireOpen puts the open chunk into quarantine, and new memory in its place.
func (l *Lane[T]) retireOpen(lo, hi int) {
	if len(l.buf) == 0 || !l.shadowed() {
		return
	}
	s := l.shadowOf(l.buf)
	l.verify(s, lo, min(hi, s.cleanLo))
	l.verify(s, max(lo, s.cleanHi), hi)
	l.retire(l.buf, lo, hi)
	l.buf = make([]T, len(l.buf))
}

func (l *Lane[T]) retireLarge(buf []T) {
	if len(buf) > 0 {
		l.retire(buf, len(buf), len(buf))
	}
}

// retire puts buf[:lo] and buf[hi:] into quarantine.
func (l *Lane[T]) retire(buf []T, lo, hi int) {
	if !l.shadowed() {
		return
	}
	s := l.shadowOf(buf)
	site := check.Release()
	clear(buf[:lo])
	clear(buf[hi:])
	if lo > 0 {
		check.Retire(check.Of(buf[:lo], l.owner(), marksIn(s.low, 0), site))
	}
	high := check.Of(buf[hi:], l.owner(), marksIn(s.high, hi), site)
	high.Free = (hi - lo) * l.size()
	if escape.Each() {
		what, name, made, size, now := "lane", "", (*leak.Site)(nil), l.size(), time.Now()
		if l.a != nil {
			what, name, made = "arena", l.a.name, l.a.made
		}
		high.Left = func() {
			w := escape.BeginAt(site, now, what, name, made)
			w.Add(reflect.TypeFor[T]().String(), addr.First(buf), len(buf)*size)
			w.Watch()
		}
	}
	check.Retire(high)
	l.marks = len(s.high)
	l.unknown(buf)
}
