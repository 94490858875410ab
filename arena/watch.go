package arena

import (
	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/reuse"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// What watches arenas: package internal/track.
//
// Of the Resets that are watched for stale pointers the chunks of one type are not used
// again. With all of an arena's types a request in a thousand would be many times as
// slow, which is what a p99.9 shows. The chunks are cleared, as they are in any Reset:
// otherwise the one that is referred to would hold the others, of all lanes. Release of
// a Mark is watched in the check build only: what it takes back shares chunks with what
// was there before.

// releasing returns the release of what is in use, and may be used again or not.
func (a *Arena) releasing(d track.Due, keeps bool) *track.Release {
	s := a.seldom()
	if drops(d, s.reuse, keeps) {
		return track.Unwatched()
	}
	var bytes []int
	for l := a.listed; l != nil; l = l.nextListed {
		bytes = append(bytes, l.reserved()*l.size)
	}
	o := track.Owner{Kind: "arena", Name: a.name, Made: s.made, Title: a.title, Busy: a.busy.Get()}
	return release(d, o, s.reuse, keeps, len(bytes), func(i int) int { return bytes[i] })
}

// release returns the release of an arena, or of a lane of it. The check build uses no
// memory again, and watches all.
func release(d track.Due, o track.Owner, r *reuse.Record, keeps bool, parts int, bytes func(int) int) *track.Release {
	o.Judge = func() func(bool) { return r.Watched(!keeps) }
	if keeps || check.Enabled {
		return track.Begin(d, o, parts, bytes)
	}
	return track.Trial(o)
}

// drops reports whether memory goes to the collector and nobody watches it.
func drops(d track.Due, r *reuse.Record, keeps bool) bool {
	return !keeps && d == 0 && !check.Enabled && !r.OnTrial()
}

// releasing returns the release of what is in use of a lane that is Reset by itself.
func (l *lane) releasing(d track.Due, keeps bool) *track.Release {
	o := track.Owner{Kind: "lane", Title: l.owner}
	var reuse *reuse.Record
	if l.a != nil {
		s := l.a.seldom()
		o.Kind, o.Name, o.Made, reuse = "arena", l.a.name, s.made, s.reuse
	}
	if drops(d, reuse, keeps) {
		return track.Unwatched()
	}
	if check.Enabled {
		o.Busy = l.busy()
	}
	return release(d, o, reuse, keeps, 1, func(int) int { return l.reserved() * l.size })
}

// offer clears the chunks in use and shows them to the release. It returns what the lane
// may use in place of the open one.
func (l *lane) offer(r *track.Release) track.Answer {
	if r == nil || !l.active {
		return track.Itself
	}
	if r.Drops() {
		return track.Nothing
	}
	defer l.begin(r.Site).Exit()
	l.verifyFree()
	answer := l.offerChunk(r, l.chunk(), l.at().lo, l.at().i)
	if o := l.others; o != nil {
		for _, s := range o.full {
			l.offerChunk(r, s.block, s.lo, s.hi)
		}
		for _, b := range o.large {
			l.offerChunk(r, b, b.n, b.n)
		}
	}
	return answer
}

// offerChunk is offer of one chunk, of which [lo, hi) was never handed out.
func (l *lane) offerChunk(r *track.Release, b block, lo, hi int) track.Answer {
	if b.n == 0 {
		return track.Itself
	}
	b.clear(0, lo)
	b.clear(hi, b.n)
	c := l.released(b.base(), 0, b.n)
	c.From, c.To = lo, hi
	if l.shadowed() {
		l.endShadow(r, c)
	}
	return r.Chunk(c, l.shadowed())
}

// released describes elements of a chunk.
func (l *lane) released(base *byte, from, to int) *check.Released {
	return &check.Released{Owner: l.owner(), Type: l.typ(), N: to - from, Mem: addr.Add(base, from*l.size)}
}

// owner says in reports whose memory it is.
func (l *lane) owner() string {
	if l.a == nil {
		return "a Lane of its own"
	}
	return l.a.title()
}

// handedOut says that elements of the open chunk are somebody's.
func (l *lane) handedOut(from, to int) {
	if track.Watched && from < to {
		l.noteNew(from, to)
		sanitize.Grant(addr.Add(l.base(), from*l.size), uintptr((to-from)*l.size))
	}
}

// withhold says that the open chunk is nobody's.
func (l *lane) withhold() {
	if sanitize.Poisons && l.n > 0 {
		sanitize.Withhold(addr.Add(l.base(), 0), uintptr(l.n*l.size))
	}
}

// revoke says that nobody has what was handed out, as it is.
func (l *lane) revoke() {
	if !sanitize.Enabled || !l.active {
		return
	}
	l.revokeRange(l.base(), 0, l.at().lo)
	l.revokeRange(l.base(), l.at().i, l.n)
	if l.others == nil {
		return
	}
	for _, s := range l.others.full {
		l.revokeRange(s.base(), 0, s.lo)
		l.revokeRange(s.base(), s.hi, s.n)
	}
	for _, b := range l.others.large {
		l.revokeRange(b.base(), 0, b.n)
	}
}

// revokeRange is revoke of elements of the chunk that begins at base.
func (l *lane) revokeRange(base *byte, from, to int) {
	if sanitize.Enabled && from < to {
		sanitize.Revoke(addr.Add(base, from*l.size), uintptr((to-from)*l.size))
	}
}
