package stress

import (
	"errors"
	"reflect"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/slab"
)

// A home is a memory in which a chain can be.
type home uint8

const (
	inHeap home = iota
	inArena
	inArena2
	inLane
	inBump
	inBump2
	inCache
	inLocal
	inPool
	inPoolLocal
	homes

	// In these a chain is only with what else is there, never in a slot of a set.
	inContext = homes + iota
	inParcel
)

var homeNames = map[home]string{
	inHeap:      "the heap",
	inArena:     "arena 1",
	inArena2:    "arena 2",
	inLane:      "a lane",
	inBump:      "untyped arena 1",
	inBump2:     "untyped arena 2",
	inCache:     "the shared Cache",
	inLocal:     "a Local",
	inPool:      "the shared Pool",
	inPoolLocal: "a pool.Local",
	inContext:   "a memory context",
	inParcel:    "a pooled arena",
}

func (h home) String() string { return homeNames[h] }

// sharedHomes are those from which a chain may go to another goroutine.
var sharedHomes = []home{inHeap, inCache, inPool}

func (h home) shared() bool  { return h == inHeap || h == inCache || h == inPool }
func (h home) typed() bool   { return h == inArena || h == inArena2 }
func (h home) untyped() bool { return h == inBump || h == inBump2 }

// frees reports whether cells are given back one by one.
func (h home) frees() bool { return h >= inCache && h < homes }

// lends reports whether others may read what is in there for a while, since its owner
// takes it back at times of its own only.
func (h home) lends() bool { return h.typed() || h == inLane || h.untyped() }

func (w *worker) anyHome() home { return home(w.below(int(homes))) }

func (w *worker) homeBut(h home) home {
	return (h + 1 + home(w.below(int(homes)-1))) % homes
}

// level returns how many marks are open in h.
func (w *worker) level(h home) int {
	if h.typed() {
		return len(w.arenas[h-inArena].marks)
	}
	return 0
}

// stamp makes one for a cell in h. Those of untyped memory have to be in there.
func (w *worker) stamp(h home, seed uint64) *stamp {
	var s *stamp
	if h.untyped() {
		s = bump.New[stamp](w.bumps[h-inBump])
		if s.seed != 0 || s.self != nil {
			fail("a new stamp at %p in %s is not zero: %+v", s, h, *s)
		}
	} else {
		s = new(stamp)
	}
	s.seed, s.self = seed, s
	w.ops++
	return s
}

// alloc returns a cell that should be zero, or nil if there is no room.
func (s *set[T, P]) alloc(h home) *T {
	w := s.w
	switch h {
	case inArena, inArena2:
		return allocIn[T](w, &w.arenas[h-inArena])
	case inLane:
		if w.oneIn(8) {
			return &s.lane.MakeSlice(1, 1)[0]
		}
		return s.lane.New()
	case inBump, inBump2:
		return bump.New[T](w.bumps[h-inBump])
	case inCache:
		p, err := s.cache.TryAlloc()
		if err != nil {
			mustBeFull(err)
		}
		return p
	case inLocal:
		return s.local.Alloc()
	case inPool:
		return s.pool.Get()
	case inPoolLocal:
		return s.spare.Get()
	}
	return new(T)
}

// allocIn uses one of the ways that lead into an arena.
func allocIn[T any](w *worker, in *scope) *T {
	way := w.below(16)
	if in.limited || way < 2 {
		p, err := arena.TryNew[T](in.a)
		if err != nil {
			mustBeLimit(err)
		}
		return p
	}
	switch way {
	case 2:
		return arena.NewOf(in.a, reflect.TypeFor[T]()).Interface().(*T)
	case 3:
		return &arena.MakeSlice[T](in.a, 1, 1+w.below(2))[0]
	case 4, 5:
		return arena.LaneOf[T](in.a).New()
	}
	return arena.New[T](in.a)
}

// copyTo returns a copy of the cell p in h, or nil if there is no room.
func (s *set[T, P]) copyTo(h home, p *T) *T {
	w := s.w
	switch {
	case h == inHeap:
		return arena.Clone(p)
	case h.typed() && !w.arenas[h-inArena].limited:
		return arena.NewFrom(w.arenas[h-inArena].a, *p)
	case h == inLane:
		return s.lane.NewFrom(*p)
	case h.untyped():
		return bump.NewFrom(w.bumps[h-inBump], *p)
	}
	q := P(s.alloc(h))
	if q == nil {
		return nil
	}
	if dirty(q.body()) >= 0 || *q.link() != nil {
		mustBeZero(q.body(), func() string { return "a new cell in " + h.String() })
		fail("a new cell at %p in %s has a link that is not nil", q, h)
	}
	*q = *p
	return q
}

// free gives a cell back, where the memory takes cells.
func (s *set[T, P]) free(h home, p *T) {
	switch h {
	case inCache:
		s.cache.Free(p)
	case inLocal:
		s.local.Free(p)
	case inPool:
		s.pool.Put(p)
	case inPoolLocal:
		s.spare.Put(p)
	}
}

func mustBeFull(err error) {
	if !errors.Is(err, slab.ErrExhausted) {
		fail("%v, want an error that is slab.ErrExhausted", err)
	}
}

func mustBeLimit(err error) {
	if e := (*arena.LimitError)(nil); !errors.As(err, &e) || !errors.Is(err, arena.ErrLimit) {
		fail("%v, want a LimitError", err)
	}
}
