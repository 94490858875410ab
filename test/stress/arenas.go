package stress

import "github.com/haven-mem/haven/arena"

// A scope is a typed arena with its open marks.
type scope struct {
	a       *arena.Arena
	marks   []arena.Mark
	limited bool // has a Limit, so that allocations may fail
	hooks   int  // callbacks that have to run at the next Reset or Free
	ran     int
}

// maxMarks is how deep marks nest.
const maxMarks = 4

// open makes a new arena.
func (in *scope) open(rng *choices) {
	var conf arena.Config
	if rng.oneIn(2) {
		conf.FirstChunk = 64 << rng.below(8)
	}
	if rng.oneIn(2) {
		conf.MaxChunk = 1024 << rng.below(10)
	}
	if rng.oneIn(2) {
		conf.Retain = rng.below(1<<20) - 1
	}
	in.limited = rng.oneIn(4)
	if in.limited {
		conf.Limit = 16 << 10 << rng.below(6)
	}
	*in = scope{a: arena.NewArena(conf), marks: in.marks[:0], limited: in.limited}
}

// stepArena does something with one of the arenas as a whole.
func (w *worker) stepArena() {
	i := w.below(len(w.arenas))
	in, h := &w.arenas[i], inArena+home(i)
	switch k := w.below(16); {
	case k < 5:
		w.note("mark", "", len(in.marks), h, 0)
		if len(in.marks) < maxMarks {
			in.marks = append(in.marks, in.a.Mark())
		}
	case k < 10:
		if len(in.marks) == 0 {
			w.resetArena(in, h)
			return
		}
		level := len(in.marks)
		w.note("release", "", level, h, 0)
		w.evict(h, level)
		w.settle()
		in.a.Release(in.marks[level-1])
		in.marks = in.marks[:level-1]
		w.ops++
	case k < 12:
		w.resetArena(in, h)
	case k < 13:
		w.note("free", "", 0, h, 0)
		in.a.Free()
		in.mustHaveRun(h)
		w.leave(h)
		in.open(&w.choices)
		w.ops++
	case k < 14:
		keep := w.below(1 << 16)
		w.note("trim", "", 0, h, keep)
		in.a.Trim(keep)
		w.ops++
	default:
		// A callback from within a mark would run at its Release.
		w.note("callback", "", in.hooks, h, 0)
		if len(in.marks) == 0 {
			in.hooks++
			in.a.OnReset(func() { in.ran++ })
		}
	}
}

func (w *worker) resetArena(in *scope, h home) {
	w.note("reset", "", 0, h, 0)
	w.evict(h, 0)
	w.settle()
	in.a.Reset()
	in.mustHaveRun(h)
	in.marks = in.marks[:0]
	w.ops++
	st := in.a.Stats()
	if st.InUse != 0 || st.Reserved != st.InUse+st.Idle+st.Gaps {
		fail("after Reset %s has %v", h, st)
	}
}

func (in *scope) mustHaveRun(h home) {
	if in.ran != in.hooks {
		fail("%d of %d callbacks of %s ran", in.ran, in.hooks, h)
	}
	in.ran, in.hooks = 0, 0
}
