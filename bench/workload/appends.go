package workload

import (
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload append makes lists, some values at a time, as parsers and encoders do, and drops
// each before the next. What it compares is the price of an append: with Go's own, with that
// to a slice that is kept and used again, which is what programs write by hand, and with
// a nil arena, which is Go's own append behind a check.

func init() {
	Register(Workload{
		Name:  "append",
		Doc:   "lists of 240 values of 24 bytes, one or three at a time",
		Unit:  "append",
		Cases: appendCases,
	})
}

const (
	appendLists  = 1_000 // in a round
	appendQuick  = 100
	appendLength = 240 // values in a list
)

// appendValue has a pointer, so that appends are those of most types.
type appendValue struct {
	name     string
	position int
}

func appendCases(cfg Config) []Case {
	lists := appendLists
	if cfg.Quick {
		lists = appendQuick
	}
	variants := func(each int, make map[string]func(v []appendValue) []appendValue) []Variant {
		targets := map[string][]Target{
			"arena": {{Metric: MetricTime, Against: "list", Bound: AtMost, Value: 1.1}},
			"nil":   {{Metric: MetricTime, Against: "append", Bound: AtMost, Value: 1.03}},
		}
		return variantsOf([]string{"append", "nil", "list", "arena", "lane", "bump"}, targets, func(name string) (Instance, error) {
			in := &appends{lists: lists, each: each, makeList: make[name]}
			for i := range in.values {
				in.values[i] = appendValue{smallTags[i], i}
			}
			return in, nil
		})
	}
	return []Case{{Name: "values=1", Variants: variants(1, appendOne())}, {Name: "values=3", Variants: variants(3, appendThree())}}
}

// appends is an instance of the workload.
type appends struct {
	lists, each int
	values      [3]appendValue
	makeList    func(v []appendValue) []appendValue
	list        []appendValue // on the heap, so that what is made escapes
	inspect     func(sum uint64)
}

func (in *appends) Round(r *Round) {
	start := time.Now()
	for range in.lists {
		in.list = in.makeList(in.values[:])
		if in.inspect != nil {
			h := uint64(len(in.list))
			for _, v := range in.list {
				h = add(addString(h, v.name), uint64(v.position))
			}
			in.inspect(h)
		}
	}
	r.Elapsed = time.Since(start)
	r.Ops = int64(in.lists * appendLength / in.each)
}

func (in *appends) Close() { in.list = nil }

// appendOne returns the variants that append one value at a time. Each resets the memory of
// the list before.
func appendOne() map[string]func(v []appendValue) []appendValue {
	var none *arena.Arena
	mem, lane, untyped, kept := arena.NewArena(), new(arena.Lane[appendValue]), bump.NewArena(), []appendValue(nil)
	inArena := func(a *arena.Arena, v []appendValue) (s []appendValue) {
		for range appendLength {
			s = arena.Push(a, s, v[0])
		}
		return s
	}
	return map[string]func(v []appendValue) []appendValue{
		"append": func(v []appendValue) (s []appendValue) {
			for range appendLength {
				s = append(s, v[0])
			}
			return s
		},
		"nil": func(v []appendValue) []appendValue { return inArena(none, v) },
		"list": func(v []appendValue) []appendValue {
			clear(kept)
			kept = kept[:0]
			for range appendLength {
				kept = appendTo(kept, v[0])
			}
			return kept
		},
		"arena": func(v []appendValue) []appendValue { mem.Reset(); return inArena(mem, v) },
		"lane": func(v []appendValue) (s []appendValue) {
			lane.Reset()
			for range appendLength {
				s = lane.Push(s, v[0])
			}
			return s
		},
		"bump": func(v []appendValue) (s []appendValue) {
			untyped.Reset()
			for range appendLength {
				s = bump.Push(untyped, s, v[0])
			}
			return s
		},
	}
}

// appendThree does so three at a time.
func appendThree() map[string]func(v []appendValue) []appendValue {
	var none *arena.Arena
	mem, lane, untyped, kept := arena.NewArena(), new(arena.Lane[appendValue]), bump.NewArena(), []appendValue(nil)
	inArena := func(a *arena.Arena, v []appendValue) (s []appendValue) {
		for range appendLength / 3 {
			s = arena.Append(a, s, v[0], v[1], v[2])
		}
		return s
	}
	return map[string]func(v []appendValue) []appendValue{
		"append": func(v []appendValue) (s []appendValue) {
			for range appendLength / 3 {
				s = append(s, v[0], v[1], v[2])
			}
			return s
		},
		"nil": func(v []appendValue) []appendValue { return inArena(none, v) },
		"list": func(v []appendValue) []appendValue {
			clear(kept)
			kept = kept[:0]
			for range appendLength / 3 {
				kept = appendTo(kept, v[0], v[1], v[2])
			}
			return kept
		},
		"arena": func(v []appendValue) []appendValue { mem.Reset(); return inArena(mem, v) },
		"lane": func(v []appendValue) (s []appendValue) {
			lane.Reset()
			for range appendLength / 3 {
				s = lane.Append(s, v[0], v[1], v[2])
			}
			return s
		},
		"bump": func(v []appendValue) (s []appendValue) {
			untyped.Reset()
			for range appendLength / 3 {
				s = bump.Append(untyped, s, v[0], v[1], v[2])
			}
			return s
		},
	}
}

// appendTo is the method of a list that a program writes by hand.
//
//go:noinline
func appendTo(s []appendValue, vs ...appendValue) []appendValue { return append(s, vs...) }
