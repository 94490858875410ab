package stale_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// found returns what was released since serial and is referred to, in lines.
func found(serial uint64) (list []string) {
	all, _ := stale.Since(serial)
	for _, e := range all {
		list = append(list, fmt.Sprintf("%s %q of %s: %d in %d", e.What, e.Name, e.Type, e.Bytes, e.Chunks))
	}
	return list
}

// run runs the program of a kind in a goroutine of its own, whose stack is gone
// when run returns.
func run(t *testing.T, k kind, keep func(any)) {
	owners = nil
	done := make(chan bool)
	go func() {
		defer close(done)
		k.run(t, keep)
	}()
	<-done
}

// Each pointer that is kept is found, wherever it is, with the name of what was
// released and the type, and nothing that is only near it.
func TestPlanted(t *testing.T) {
	defer stale.All()()
	for _, k := range kinds {
		for _, p := range plants {
			t.Run(k.name+"/"+p.name, func(t *testing.T) {
				if k.what == "cache" {
					testkit.Unguarded(t)
				}
				first := stale.Now()
				end := func() {}
				run(t, k, func(v any) { end = p.keep(v) })
				list, _ := stale.Since(first)
				end()
				if len(list) != 1 {
					t.Fatalf("%d stale pointers, want one: %v", len(list), list)
				}
				e := list[0]
				if e.What != k.what || e.Name != k.of || e.Type != k.typ || e.Chunks != 1 || e.Bytes < 16 || e.Count != 1 || e.Age <= 0 {
					t.Errorf("%+v, want one piece of the %s %q of %s", e, k.what, k.of, k.typ)
				}
				if !strings.Contains(e.Released, "planted_test.go") || strings.Contains(strings.SplitN(e.Released, "\n", 2)[0], "internal/stale.") {
					t.Errorf("the stack of the release is\n%s", e.Released)
				}
			})
		}
	}
}

// The same programs that keep nothing, or keep it in memory that itself dies, have
// no stale pointers.
func TestNothingPlanted(t *testing.T) {
	defer stale.All()()
	for _, k := range kinds {
		for name, keep := range map[string]func(any){
			"nothing":     func(any) {},
			"dead memory": func(v any) { globalBox.inner = []any{&v, func() any { return v }}; globalBox.inner = nil },
			"ended plants": func(v any) {
				for _, p := range plants {
					p.keep(v)()
				}
			},
			"a copy": func(v any) {
				if n, ok := v.(*node); ok && !sanitize.Poisons { // it may be released
					global = arena.Clone(n).n
				}
			},
		} {
			t.Run(k.name+"/"+name, func(t *testing.T) {
				first := stale.Now()
				run(t, k, keep)
				if list := found(first); list != nil {
					t.Errorf("%q", list)
				}
			})
		}
	}
}
