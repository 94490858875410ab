package stress

import (
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/test/stress/internal/words"
)

// A raw is memory of an untyped arena that changes its size: by Realloc, or by Append.
type raw struct {
	words []uint64
	slice *[]uint64 // in the arena as well; nil: by Realloc
	seed  uint64
	in    int // of bumps
}

// stepRaw does something with one of the raws.
func (w *worker) stepRaw() {
	i := w.below(len(w.raws))
	r := &w.raws[i]
	n := 1 + w.below(60)
	if r.words == nil && r.slice == nil {
		*r = raw{seed: w.next(), in: w.below(len(w.bumps))}
		w.note("make", "raw", i, inBump+home(r.in), n)
		if w.oneIn(2) {
			r.slice = bump.New[[]uint64](w.bumps[r.in])
			if *r.slice != nil {
				fail("a new slice has %d words of %d", len(*r.slice), cap(*r.slice))
			}
			r.growSlice(w, n)
		} else {
			p := w.bumps[r.in].Alloc(uintptr(n)*8, 8<<w.below(4))
			r.words = words.At(p, n)
			mustBeZero(r.words, r.what)
			fill(r.words, r.seed)
			w.ops++
		}
		return
	}
	switch k := w.below(8); {
	case k < 2:
		w.note("verify", "raw", i, inBump+home(r.in), 0)
		r.verify(w)
	case k < 7 && r.slice != nil:
		w.note("resize", "raw slice", i, inBump+home(r.in), n)
		if w.oneIn(3) || len(*r.slice) > maxBlock {
			*r.slice = (*r.slice)[:w.below(len(*r.slice)+1)]
		}
		r.growSlice(w, n)
	case k < 7:
		if w.oneIn(3) || len(r.words) > maxBlock {
			n = 1 + w.below(len(r.words))
		} else {
			n += len(r.words)
		}
		w.note("realloc", "raw", i, inBump+home(r.in), n)
		r.realloc(w, n)
	default:
		w.note("drop", "raw", i, inBump+home(r.in), 0)
		r.verify(w)
		*r = raw{}
	}
}

func (r *raw) what() string { return "raw words in " + (inBump + home(r.in)).String() }

func (r *raw) verify(w *worker) {
	mustBeContent(r.words, r.seed, r.what)
	if r.slice != nil {
		mustBeContent(*r.slice, r.seed, r.what)
	}
	w.ops++
}

func (r *raw) growSlice(w *worker, n int) {
	more := w.scratch[:n]
	fill(more, r.seed+uint64(len(*r.slice))*stride)
	*r.slice = bump.Append(w.bumps[r.in], *r.slice, more...)
	w.ops++
	r.verify(w)
}

// realloc makes it n words. Where that moves it, what was there has to stay.
func (r *raw) realloc(w *worker, n int) {
	old := r.words
	p := w.bumps[r.in].Realloc(words.Pointer(old), uintptr(len(old))*8, uintptr(n)*8, 8)
	r.words = words.At(p, n)
	kept := min(n, len(old))
	mustBeContent(r.words[:kept], r.seed, r.what)
	mustBeZero(r.words[kept:], r.what)
	mustBeContent(old[:kept], r.seed, r.what)
	fill(r.words[kept:], r.seed+uint64(kept)*stride)
	w.ops += 2
}

// evictRaws ends the raws of an untyped arena.
func (w *worker) evictRaws(in int) {
	for i := range w.raws {
		if r := &w.raws[i]; r.in == in && (r.words != nil || r.slice != nil) {
			r.verify(w)
			*r = raw{}
		}
	}
}

// stepBump does something with one of the untyped arenas as a whole.
func (w *worker) stepBump() {
	i := w.below(len(w.bumps))
	h := inBump + home(i)
	if w.oneIn(4) {
		w.note("free", "", 0, h, 0)
		w.evictRaws(i)
		w.bumps[i].Free()
		w.leave(h)
		w.bumps[i] = new(bump.Arena)
		w.ops++
		return
	}
	w.note("reset", "", 0, h, 0)
	w.evict(h, 0)
	w.evictRaws(i)
	w.settle()
	w.bumps[i].Reset()
	w.ops++
	if st := w.bumps[i].Stats(); st.InUse != 0 || st.Reserved != st.InUse+st.Idle+st.Gaps+st.Overhead {
		fail("after Reset %s has %v", h, st)
	}
}
