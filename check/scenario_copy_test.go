//go:build haven_check

package check_test

import (
	"reflect"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

func init() { scenarios = append(scenarios, copyScenarios...) }

func copyOf[T any](p *T) *T {
	c := *p
	return &c
}

const (
	copied   = "use of a copy"
	overlaps = "use by two goroutines at once"
)

var copyScenarios = []scenario{
	{"arena: New on a copy", func(here func(string)) {
		a := arena.NewArena(arena.Name("decoder"))
		arena.New[node](a)
		arena.New[node](copyOf(a))
	}, []string{`New on a copy of arena "decoder"`}},
	{"arena: NewOf on a copy", func(here func(string)) {
		a := arena.NewArena(arena.Name("decoder"))
		arena.NewOf(a, reflect.TypeFor[node]())
		arena.NewOf(copyOf(a), reflect.TypeFor[node]())
	}, []string{`NewOf on a copy of arena "decoder"`}},
	{"lane: a copy", func(here func(string)) {
		var l arena.Lane[node]
		l.New()
		copyOf(&l).New()
	}, []string{copied, "a Lane of its own"}},
	{"lane: a copy of an arena's", func(here func(string)) {
		l := arena.LaneOf[node](arena.NewArena(arena.Name("decoder")))
		l.MakeSlice(1, 1)
		copyOf(l).MakeSlice(1, 1)
	}, []string{copied, `arena "decoder"`}},
	{"local: a copy", func(here func(string)) {
		var l slab.Local[node]
		l.Alloc()
		copyOf(&l).Alloc()
	}, []string{copied, "a Local"}},
	{"table: a copy", func(here func(string)) {
		t := slab.NewTable[node](slab.Name("sessions"))
		t.Insert(node{})
		copyOf(t).Insert(node{})
	}, []string{copied, `table "sessions"`}},
	{"pool local: a copy", func(here func(string)) {
		l := pool.NewLocal[record](nil, pool.Name("records"))
		l.Put(l.Get())
		copyOf(l).Get()
	}, []string{copied, `Local "records"`}},
	{"pool local: two goroutines", func(here func(string)) {
		hammer(func() func() {
			l := pool.NewLocal[record](nil, pool.Name("records"))
			return func() { l.Put(l.Get()) }
		})
	}, []string{overlaps, `Local "records"`}},
	{"arena: two goroutines in NewOf", func(here func(string)) {
		hammer(func() func() {
			a := arena.NewArena(arena.Name("shared"))
			arena.NewOf(a, reflect.TypeFor[node]()) // or the runtime may find two writers of a map
			return func() { arena.NewOf(a, reflect.TypeFor[node]()) }
		})
	}, []string{overlaps, `arena "shared"`}},
}
