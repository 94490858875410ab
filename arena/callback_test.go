package arena_test

import (
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
)

// Callbacks run once, the last first, while values are intact.
func TestOnReset(t *testing.T) {
	for name, end := range map[string]func(a *arena.Arena){
		"Reset": (*arena.Arena).Reset,
		"Free":  (*arena.Arena).Free,
		"Put":   func(a *arena.Arena) { new(arena.Pool).Put(a) },
	} {
		t.Run(name, func(t *testing.T) {
			a := arena.NewArena()
			p := arena.NewFrom(a, node{key: 7})
			var got []int
			for i := range 4 {
				a.OnReset(func() {
					if p.key != 7 {
						t.Error("values are gone before the callbacks")
					}
					arena.New[node](a).key = 1 // allowed
					got = append(got, i)
				})
			}
			end(a)
			if want := []int{3, 2, 1, 0}; !slices.Equal(got, want) {
				t.Errorf("order %v, want %v", got, want)
			}
			if name == "Reset" {
				a.Reset()
				if len(got) != 4 {
					t.Error("callbacks ran twice")
				}
				if p := arena.New[node](a); *p != (node{}) {
					t.Errorf("what a callback allocated survived: %+v", *p)
				}
			}
		})
	}
}

// Release runs the callbacks registered since the Mark, and no others.
func TestOnResetInScope(t *testing.T) {
	a := arena.NewArena()
	var got []string
	note := func(s string) func() { return func() { got = append(got, s) } }
	a.OnReset(note("outer"))
	m := a.Mark()
	a.OnReset(note("first"))
	a.OnReset(note("second"))
	a.Release(m)
	if !slices.Equal(got, []string{"second", "first"}) {
		t.Errorf("Release ran %v", got)
	}
	a.Reset()
	if !slices.Equal(got, []string{"second", "first", "outer"}) {
		t.Errorf("after Reset %v", got)
	}
	(*arena.Arena)(nil).OnReset(note("nil"))
	(*arena.Arena)(nil).Reset()
	if len(got) != 3 {
		t.Error("a callback of the nil arena ran")
	}
}

// If one panics the others still run, and the panic goes on. The arena is not
// reset then, and can be once more.
func TestOnResetPanics(t *testing.T) {
	for name, end := range map[string]func(*arena.Arena, arena.Mark){
		"Reset":   func(a *arena.Arena, _ arena.Mark) { a.Reset() },
		"Release": func(a *arena.Arena, m arena.Mark) { a.Release(m) },
		"Free":    func(a *arena.Arena, _ arena.Mark) { a.Free() },
	} {
		t.Run(name, func(t *testing.T) {
			a := arena.NewArena()
			m := a.Mark()
			p := arena.NewFrom(a, 5)
			var got []int
			for i := range 5 {
				a.OnReset(func() {
					got = append(got, i)
					if i == 1 || i == 3 {
						panic(i)
					}
				})
			}
			func() {
				defer func() {
					if r := recover(); r != 1 {
						t.Errorf("recovered %v, want the last panic", r)
					}
				}()
				end(a, m)
			}()
			if !slices.Equal(got, []int{4, 3, 2, 1, 0}) {
				t.Errorf("ran %v", got)
			}
			if *p != 5 {
				t.Error("the arena was reset all the same")
			}
			end(a, m)
			if len(got) != 5 {
				t.Error("callbacks ran again")
			}
		})
	}
}

// A callback that another one registers runs in the same Reset.
func TestOnResetInside(t *testing.T) {
	a := arena.NewArena()
	var got []int
	a.OnReset(func() { got = append(got, 1) })
	a.OnReset(func() {
		got = append(got, 2)
		a.OnReset(func() { got = append(got, 3) })
	})
	a.Reset()
	if !slices.Equal(got, []int{2, 3, 1}) {
		t.Errorf("ran %v", got)
	}
}

// Inside a callback the arena cannot be ended; marks made there end with it.
func TestOnResetMisuse(t *testing.T) {
	var pool arena.Pool
	for op, f := range map[string]func(*arena.Arena, arena.Mark){
		"Reset":   func(a *arena.Arena, _ arena.Mark) { a.Reset() },
		"Free":    func(a *arena.Arena, _ arena.Mark) { a.Free() },
		"Release": func(a *arena.Arena, m arena.Mark) { a.Release(m) },
		"Put":     func(a *arena.Arena, _ arena.Mark) { pool.Put(a) },
	} {
		a := arena.NewArena(arena.Config{Name: "cb"})
		m := a.Mark()
		a.OnReset(func() { f(a, m) })
		if op == "Put" {
			op = "Reset"
		}
		panicsWith(t, "arena: "+op+` inside an OnReset callback of arena "cb"`, a.Reset)
		checkStats(t, a)
		a.OnReset(func() { a.Mark(); arena.New[int](a) })
		a.Release(m)
		m = a.Mark()
		a.Release(m)
		checkStats(t, a)
	}
	if s := pool.Stats(); s.Puts != 0 {
		t.Errorf("%+v", s)
	}
}
