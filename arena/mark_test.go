package arena_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// Release takes back what came after the Mark, and only that.
func TestMarkRelease(t *testing.T) {
	a := arena.NewArena()
	var kept []*node
	for i := range 100 {
		kept = append(kept, arena.NewFrom(a, node{key: i}))
	}
	s := arena.Append(a, []int(nil), 1, 2)
	before := checkStats(t, a).InUse
	for round := range 10 {
		m := a.Mark()
		for range round * 500 {
			if p := arena.New[node](a); *p != (node{}) {
				t.Fatalf("round %d: not zero: %+v", round, *p)
			} else {
				*p = node{key: -1, name: "x"}
			}
			grown := arena.Append(a, s, 3, 4, 5) // also grows s in place
			if grown[4] != 5 {
				t.Fatal("Append")
			}
			*arena.New[string](a) = "only in scopes"
			arena.NewOf(a, reflect.TypeFor[node]()).Elem().Set(reflect.ValueOf(node{key: 1}))
		}
		big := arena.MakeSlice[node](a, 10, 9000)
		fill(big[:cap(big)], node{key: -1})
		a.Release(m)
		if got := checkStats(t, a).InUse; got != before {
			t.Fatalf("round %d: %d bytes in use, %d at the Mark", round, got, before)
		}
	}
	for i, p := range kept {
		if *p != (node{key: i}) {
			t.Fatalf("value %d is %+v", i, *p)
		}
	}
	if s[0] != 1 || s[1] != 2 {
		t.Errorf("slice from before the Mark: %v", s)
	}
}

// Scopes nest; each ends where it began.
func TestMarkNested(t *testing.T) {
	a := arena.NewArena()
	rng := rand.New(rand.NewPCG(1, 2))
	var nest func(depth int)
	nest = func(depth int) {
		m := a.Mark()
		in := checkStats(t, a).InUse
		var mine []*int
		for range rng.IntN(200) {
			mine = append(mine, arena.NewFrom(a, depth))
			arena.MakeSlice[uint8](a, 3, rng.IntN(900)+3)
			if depth < 6 && rng.IntN(60) == 0 {
				nest(depth + 1)
			}
		}
		for _, p := range mine {
			if *p != depth {
				t.Fatalf("value of depth %d is %d", depth, *p)
			}
		}
		fill2(mine, -1)
		a.Release(m)
		if got := checkStats(t, a).InUse; got != in {
			t.Fatalf("depth %d: %d bytes in use, %d at the Mark", depth, got, in)
		}
	}
	for range 20 {
		nest(0)
		if *arena.New[int](a) != 0 {
			t.Fatal("not zero")
		}
	}
}

func fill2(ps []*int, v int) {
	for _, p := range ps {
		*p = v
	}
}

// Scopes in a loop allocate nothing, whatever they need.
func TestMarkSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	a := arena.NewArena()
	arena.New[node](a)
	if n := testing.AllocsPerRun(100, func() {
		m := a.Mark()
		for range 1000 {
			arena.New[node](a)
			arena.New[int](a)
		}
		inner := a.Mark()
		arena.String(a, "text")
		a.Release(inner)
		a.Release(m)
	}); n != 0 {
		t.Errorf("%v allocs/op", n)
	}
}

// Reset ends all open Marks.
func TestMarkEndedByReset(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "m"})
	m := a.Mark()
	arena.New[int](a)
	a.Reset()
	text := `arena: Release out of order on arena "m": mark 1 is no longer open (released, or ended by Reset)`
	panicsWith(t, text, func() { a.Release(m) })
	m2 := a.Mark() // at the same depth as the stale one
	panicsWith(t, text, func() { a.Release(m) })
	a.Release(m2)
	checkStats(t, a)
}

// Marks on the nil arena are nothing.
func TestMarkNil(t *testing.T) {
	var a *arena.Arena
	m := a.Mark()
	p := arena.NewFrom(a, 5)
	a.Release(m)
	a.Release(arena.Mark{})
	if *p != 5 {
		t.Error("Release on the nil arena changed a value")
	}
}
