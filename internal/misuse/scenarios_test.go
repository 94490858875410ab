package misuse_test

import "strings"

// A scenario is a mistake that can be made with several kinds of memory.
type scenario struct {
	name    string
	offsets bool // at several offsets
	pages   bool // and where an object is on its pages matters, if it has some
	only    func(m *memory, y typ) bool
	make    func(t *trial)
}

// What only some kinds know, see memory.special.
const (
	neverEnded   = "never ended"
	usedAfterEnd = "used after its end"
	endedTwice   = "ended twice"
	copied       = "a copy of the owner used"
	staleArena   = "an arena used after its context's Delete"
	ownedFreed   = "a context's arena freed"
	ownedPut     = "a context's arena put into a Pool"
	marksMixed   = "Marks released out of order"
	markTwice    = "a Mark released twice"
	markOfOther  = "a Mark of another arena released"
	nilReleased  = "nil released"
	foreign      = "an object released to another owner"
	heapReleased = "a heap object released"
	interior     = "a pointer into an object released"
	staleHandle  = "a stale handle looked up"
	ownTwice     = "an object of one's own released twice"
	partOfFree   = "a part of a free object released"
	heapPointer  = "a heap pointer stored where the collector does not look"
)

var scenarios = append(append(append([]*scenario{
	special(neverEnded), special(usedAfterEnd), special(endedTwice), special(staleArena), special(ownedFreed), special(ownedPut), special(copied),
	special(marksMixed), special(markTwice), special(markOfOther),
	special(nilReleased), special(heapReleased), special(interior), special(partOfFree), special(ownTwice), special(staleHandle),
}, releases...), bounds...), stale...)

// special is a scenario that each kind makes in its own way, if at all.
func special(name string) *scenario {
	return &scenario{
		name: name,
		only: func(m *memory, _ typ) bool { return m.special[name] != nil },
		make: func(t *trial) { t.m.special[name](t) },
	}
}

// or returns the scenario of kinds that make it in their own way, and of those for
// which only holds.
func (s *scenario) or() *scenario {
	rest, make := s.only, s.make
	s.only = func(m *memory, y typ) bool { return m.special[s.name] != nil || rest(m, y) }
	s.make = func(t *trial) {
		if f := t.m.special[s.name]; f != nil {
			f(t)
			return
		}
		make(t)
	}
	return s
}

// trialOf returns the trial of a name.
func trialOf(name string) *trial {
	parts := append(strings.Split(name, "/"), "")
	for _, s := range scenarios {
		for _, y := range types {
			if s.name != parts[0] || y.name != parts[2] {
				continue
			}
			for _, k := range y.kinds() {
				if k.name == parts[1] {
					return &trial{scenario: s, kind: k, typ: y, offset: parts[3]}
				}
			}
		}
	}
	return nil
}

// trials returns all trials, or those with some types and offsets.
func trials(some bool) (list []*trial) {
	made := map[string]*memory{} // to see what it knows
	for _, s := range scenarios {
		for _, y := range types {
			if some && !y.some {
				continue
			}
			for _, k := range y.kinds() {
				m := made[k.name+y.name]
				if m == nil {
					m = k.make()
					made[k.name+y.name] = m
				}
				if s.only != nil && !s.only(m, y) {
					continue
				}
				offsets := []string{""}
				if s.offsets {
					offsets = []string{"first", "middle", "last"}
					if some {
						offsets = []string{"first", "last"}
					}
					if y.size() == 1 {
						offsets = []string{"first"}
					}
				}
				if s.pages && m.paged {
					offsets = []string{atEdge, offEdge}
				}
				for _, off := range offsets {
					list = append(list, &trial{scenario: s, kind: k, typ: y, offset: off})
				}
			}
		}
	}
	return list
}
