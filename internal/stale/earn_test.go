package stale_test

import (
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// serve is a request, in a goroutine of its own whose stack is gone when it returns. It
// hands keep a pointer, and returns where that points to.
func serve(p *arena.Pool, keep func(v any)) (at uintptr) {
	done := make(chan bool)
	go func() {
		defer close(done)
		a := p.Get()
		n := ringIn(a)
		arena.String(a, "a text of this request")
		at = reflect.ValueOf(n).Pointer()
		if keep != nil {
			keep(n)
		}
		p.Put(a)
	}()
	<-done
	return at
}

const trials = 8

// Of a pool that is to earn reuse no second request gets the memory to which the program
// kept a pointer, wherever that is kept, and in whichever trial it was. It is found, and
// reuse begins once the trials were passed without.
func TestEarnPlanted(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, p := range plants {
		for _, at := range []int{0, trials - 1} {
			t.Run(p.name, func(t *testing.T) {
				pool := arena.NewPool(arena.Config{Name: "earned", Reuse: arena.Earn, Trials: trials})
				first := stale.Now()
				end := func() {}
				var planted uintptr
				for i := range 3 * trials {
					var keep func(any)
					if i == at {
						keep = func(v any) { end = p.keep(v) }
					}
					used := serve(pool, keep)
					if i == at {
						planted = used
					}
					if i > at && used == planted {
						t.Fatalf("request %d has the memory of request %d", i, at)
					}
					if s := pool.Stats().Reuse; s.Earned {
						t.Fatalf("after request %d: %v", i, s)
					}
				}
				list, _ := stale.Since(first)
				if len(list) != 1 || list[0].Name != "earned" || list[0].Type != nodeType {
					t.Errorf("found %v, want a pointer to a %s", list, nodeType)
				}
				if s := pool.Stats().Reuse; s.Found != 1 || s.Earned || s.Trial != 0 {
					t.Errorf("%v, want the trials to start over", s)
				}
				if serve(pool, nil) == planted {
					t.Error("a request after the finding has the memory")
				}
				end()
				for range trials {
					serve(pool, nil)
				}
				if list := found(first + 3*trials); list != nil {
					t.Errorf("%q", list)
				}
				if s := pool.Stats().Reuse; !s.Earned || s.Found != 1 {
					t.Errorf("%v, want reuse", s)
				}
			})
		}
	}
}

// What is found when reuse was earned ends it at once: what lies idle in the pool is not
// handed out any more.
func TestEarnedPlanted(t *testing.T) {
	testkit.NeedsReuse(t)
	pool := arena.NewPool(arena.Config{Name: "earned", Reuse: arena.Earn, Trials: trials})
	for range trials {
		serve(pool, nil)
	}
	found(0)
	if s := pool.Stats().Reuse; !s.Earned {
		t.Fatalf("%v after the trials", s)
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			first := stale.Now()
			end := func() {}
			watch := stale.All()
			serve(pool, func(v any) { end = p.keep(v) })
			watch()
			serve(pool, nil) // which is not watched, and leaves its memory with the arena
			if s := pool.Stats(); s.Reserved == 0 || !s.Reuse.Earned {
				t.Fatalf("%v, want idle memory", s)
			}
			before := pool.Stats().Reuse.Found
			if list := found(first); len(list) != 1 {
				t.Errorf("found %q, want one", list)
			}
			if s := pool.Stats().Reuse; s.Earned || s.Found != before+1 {
				t.Errorf("%v, want it to be stopped", s)
			}
			a := pool.Get()
			if s := a.Stats(); s.Reserved != 0 {
				t.Errorf("an idle arena comes with memory that was used before: %v", s)
			}
			pool.Put(a)
			end()
			for range trials {
				serve(pool, nil)
			}
			found(0)
			if s := pool.Stats().Reuse; !s.Earned {
				t.Errorf("%v, want reuse", s)
			}
		})
	}
}
