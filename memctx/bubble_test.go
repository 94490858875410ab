//go:build go1.25

package memctx_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// ages returns the ages of all findings about contexts of a name, by kind.
func ages(name string) map[string]time.Duration {
	found := map[string]time.Duration{}
	for _, l := range check.Leaks() {
		if l.Name == name {
			found[l.Kind] = l.Age
		}
	}
	return found
}

// In a bubble of testing/synctest contexts grow old by its clock, and what was made
// by another clock has no age there, nor what was made in a bubble in the world.
func TestContextsInBubble(t *testing.T) {
	outer := memctx.New("made outside", memctx.Config{MaxAge: time.Minute})
	defer outer.Delete()
	var inner *memctx.Context
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		inner = memctx.New("made in a bubble", memctx.Config{MaxAge: time.Minute})
		old := inner.Child("old in a bubble", memctx.Config{MaxAge: time.Minute})
		arena.MakeSlice[int](old.Arena(), 100, 100)
		if s := inner.Stats(); !s.Created.Equal(time.Now()) || s.Age != 0 {
			t.Errorf("created %v, %v old", s.Created, s.Age)
		}
		time.Sleep(time.Hour)
		fresh := memctx.New("fresh in a bubble", memctx.Config{MaxAge: time.Minute})
		if s := inner.Stats(); s.Age != time.Hour || outer.Stats().Age != 0 {
			t.Errorf("after an hour %v old, and the one made outside %v", s.Age, outer.Stats().Age)
		}
		check.Leaks()
		if a := ages("old in a bubble"); a["old"] != time.Hour {
			t.Errorf("not found to be old: %v", a)
		}
		if len(ages("made outside"))+len(ages("fresh in a bubble")) > 0 {
			t.Errorf("found: %v", check.Leaks())
		}
		old.Delete()
		fresh.Delete()
	})
	if s := inner.Stats(); s.Age != 0 || s.Created.Year() != 2000 {
		t.Errorf("made in a bubble, %v, and %v old", s.Created, s.Age)
	}
	if s := outer.Stats(); s.Age < 0 || s.Age > time.Since(start)+time.Minute || s.Created.After(time.Now()) {
		t.Errorf("made %v, and %v old", s.Created, s.Age)
	}
	inner.Delete()
}

// The cleanup of what was dropped in a bubble runs in the world.
func TestDroppedInBubble(t *testing.T) {
	check.SampleStacks(1)
	defer check.SampleStacks(128)
	synctest.Test(t, func(t *testing.T) {
		memctx.New("dropped in a bubble")
		arena.MakeSlice[int](arena.NewArena(arena.Config{Name: "arena dropped in a bubble"}), 10, 10)
	})
	for _, name := range []string{"dropped in a bubble", "arena dropped in a bubble"} {
		testkit.Eventually(t, name, func() bool { _, ok := ages(name)["dropped"]; return ok })
		if age := ages(name)["dropped"]; age != 0 {
			t.Errorf("%s: %v old", name, age)
		}
	}
	var report strings.Builder
	memctx.WriteReport(&report, memctx.ReportOptions{})
	if strings.Contains(report.String(), "2299") || strings.Contains(report.String(), "00h") { // 25 years
		t.Error(report.String())
	}
}

// Leases, limits and warm arenas that goroutines of several bubbles and of the world use.
func TestTreeAcrossBubbles(t *testing.T) {
	server := memctx.New("across bubbles", memctx.Config{Limit: 1 << 22})
	request := func(*testing.T) {
		var users sync.WaitGroup
		for range 4 {
			users.Add(1)
			go func() {
				defer users.Done()
				for range 20 {
					c := server.Child("request")
					c.Retain()
					arena.MakeSlice[int](c.Arena(), 1000, 1000)
					users.Add(1)
					go func() {
						defer users.Done()
						c.Release()
					}()
					c.Delete()
				}
			}()
		}
		users.Wait()
	}
	for range 3 {
		synctest.Test(t, request)
		testkit.CollectGarbage()
	}
	request(t)
	if n := server.Stats().Contexts; n != 1 {
		t.Errorf("%d contexts", n)
	}
	server.Delete()
}
