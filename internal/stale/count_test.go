package stale_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

var runs int // of the test: the counts are the process's

// Statistics have the number of stale pointers of their name, and of no other.
func TestCountByName(t *testing.T) {
	testkit.Unguarded(t)
	defer stale.All()()
	first := stale.Now()
	runs++
	name := fmt.Sprintf("counted %d", runs)

	a := arena.NewArena(arena.Config{Name: name})
	nameless := arena.NewArena()
	other := arena.NewArena(arena.Config{Name: name + " too"})
	mc := memctx.New(name + " context")
	defer mc.Delete()
	c := slab.NewCache(slab.Config[node]{Name: name})
	p := pool.New(func() *node { return new(node) }, pool.Config[node]{Name: name})
	var kept []*node
	for range 3 {
		kept = append(kept, arena.New[node](a), arena.New[node](mc.Arena()))
		arena.New[node](other)
		a.Reset()
		other.Reset()
		mc.Reset()
	}
	kept = append(kept, arena.New[node](nameless))
	nameless.Reset()
	x := c.Alloc()
	c.Free(x)
	c.Trim()
	y := p.Get()
	p.Put(y)
	kept = append(kept, x, y)

	stale.Since(first)
	runtime.KeepAlive(kept)
	var names memctx.NameStats
	for n := range memctx.Names() {
		if n.Name == name+" context" {
			names = n
		}
	}
	for _, s := range []struct {
		of    fmt.Stringer
		n     uint64
		want  uint64
		shown string
	}{
		{a.Stats(), a.Stats().Stale, 3, ", 3 stale pointers"},
		{other.Stats(), other.Stats().Stale, 0, ""},
		{nameless.Stats(), nameless.Stats().Stale, 0, ""},
		{names, names.Stale, 3, ", 3 stale pointers;"},
		{c.Stats(), c.Stats().Stale, 1, ", 1 stale pointer"},
		{p.Stats(), p.Stats().Stale, 1, ", 1 stale pointer"},
	} {
		if s.n != s.want || !strings.Contains(s.of.String(), s.shown) || s.shown == "" && strings.Contains(s.of.String(), " stale pointer") {
			t.Errorf("%d stale pointers, want %d: %v", s.n, s.want, s.of)
		}
	}
}
