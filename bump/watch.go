package bump

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/track"
)

// What watches arenas: package internal/track.

// releasing returns the release of what is in use.
func (a *Arena) releasing(d track.Due) *track.Release {
	return track.Begin(d, track.Owner{
		Kind: "bump arena", Name: a.name, Made: a.made, Title: a.title, Busy: a.busy.Get(),
		Untyped: true, Head: int(head), Beside: int(overhead),
	}, 1, func(int) int { return a.reserved })
}

// offer shows the chunks to a release, and returns what the arena may use in place of
// them. In the place of one that it would keep there is another already.
//
// As long as chunks know their root, and the root them, one that is pointed to keeps
// all. So those that are not used again part. What is left in such a chunk is what it
// was made with, zero or poison and a pointer to a root without chunks: no pointer into
// a chunk that is gone.
func (a *Arena) offer(r *track.Release, keep bool) (answer track.Answer) {
	if check.Enabled {
		a.busy.Get().Enter(r.Site(), a.title)
		defer a.busy.Get().Exit()
	}
	for i := range a.root.chunks {
		answer = a.offerChunk(r, i)
	}
	if answer == track.Itself {
		return answer
	}
	seen, size := a.seen(), a.root.chunks[0].size
	*a.root, a.root = root{}, nil
	if seen != nil {
		seen.Clear() // what were red zones may be poison now
	}
	if answer == track.Another && keep {
		a.root = new(root)
		*a.root.seen.Get() = seen
		a.root.add(newBlock(a.root, size), a)
	}
	return answer
}

func (a *Arena) offerChunk(r *track.Release, i int) track.Answer {
	b := &a.root.chunks[i]
	if seen := a.seen(); seen != nil {
		if c := seen.Release(i, b.lo, b.hi, r.Site()); c != nil {
			return r.Chunk(c, true)
		}
		seen.Forget() // there are red zones only
	}
	b.clear()
	// SAFETY: GC.md fact 1: the memory is a part of the chunk.
	return r.Chunk(&check.Released{Type: byteType, N: int(b.size), Mem: unsafe.Pointer(b.data)}, false)
}
