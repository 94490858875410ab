package haven_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/shape"
	"github.com/haven-mem/haven/slab"
)

// A claim is a sentence of DESIGN.md about a zero value or a nil pointer, and what shows
// that it is true.
type claim struct {
	text string
	is   func() bool
}

// none is where a type has no such value, or nobody can have it.
var none = claim{"–", func() bool { return true }}

type number struct{ n int }

var zeros = []struct {
	name      string
	zero, nil claim
}{
	{"arena.Arena",
		claim{"ready, without name and limit", func() bool {
			var a arena.Arena
			arena.New[number](&a)
			s := a.Stats()
			return s.Name == "" && s.Limit == 0 && s.Lanes[0].Count == 1
		}},
		claim{"Go's heap; Reset, Free, Mark and Release do nothing, OnReset drops its function", func() bool {
			var a *arena.Arena
			p, s := arena.New[number](a), arena.MakeSlice[int](a, 2, 2)
			called := false
			a.OnReset(func() { called = true })
			a.Release(a.Mark())
			a.Reset()
			a.Free()
			return p.n == 0 && len(s) == 2 && !called && len(a.Stats().Lanes) == 0
		}}},
	{"arena.Lane",
		claim{"ready, in no arena", func() bool {
			var l arena.Lane[number]
			return l.New().n == 0 && len(l.MakeSlice(2, 2)) == 2
		}},
		claim{"panics; `LaneOf` of the nil arena is a lane on Go's heap", func() bool {
			var l *arena.Lane[number]
			heap := arena.LaneOf[int](nil)
			return panics(func() { l.New() }) && *heap.New() == 0 && len(heap.MakeSlice(2, 2)) == 2
		}}},
	{"arena.Mark",
		claim{"of the nil arena; Release by another one panics", func() bool {
			var a *arena.Arena
			a.Release(arena.Mark{})
			return panics(func() { new(arena.Arena).Release(arena.Mark{}) })
		}}, none},
	{"arena.Pool",
		claim{"ready, its arenas have no name and no limit", func() bool {
			var p arena.Pool
			a := p.Get()
			defer p.Put(a)
			return a != nil && a.Stats().Name == "" && a.Stats().Limit == 0
		}},
		claim{"Get returns the nil arena, Put of it does nothing", func() bool {
			var p *arena.Pool
			p.Put(p.Get())
			return p.Get() == nil && p.Stats() == arena.PoolStats{}
		}}},
	{"bump.Arena",
		claim{"ready, without name and limit", func() bool {
			var a bump.Arena
			return bump.New[number](&a).n == 0 && a.Stats().Limit == 0
		}},
		claim{"panics, since there is no heap of untyped memory; its Stats are zero", func() bool {
			var a *bump.Arena
			return panics(func() { bump.New[number](a) }) && panics(func() { a.Alloc(8, 8) }) && panics(a.Reset) &&
				panics(a.Free) && a.Stats() == bump.Stats{}
		}}},
	{"slab.Cache",
		claim{"ready, without name and capacity; objects are zero", func() bool {
			var c slab.Cache[number]
			p := c.Alloc()
			defer c.Free(p)
			return p.n == 0 && c.Stats().Capacity == 0 && c.Stats().InUse == 1
		}},
		claim{"panics", func() bool {
			var c *slab.Cache[number]
			return panics(func() { c.Alloc() })
		}}},
	{"slab.Local",
		claim{"ready", func() bool {
			var l slab.Local[number]
			p := l.Alloc()
			defer l.Free(p)
			return p.n == 0 && l.Stats().InUse == 1
		}},
		claim{"panics", func() bool {
			var l *slab.Local[number]
			return panics(func() { l.Alloc() })
		}}},
	{"slab.Table",
		claim{"ready, without name and capacity", func() bool {
			var t slab.Table[number]
			h, p := t.Insert(number{7})
			q, ok := t.Get(h)
			return ok && p == q && t.Len() == 1 && t.Stats().Capacity == 0
		}},
		claim{"panics", func() bool {
			var t *slab.Table[number]
			return panics(func() { t.Insert(number{}) })
		}}},
	{"slab.Handle",
		claim{"finds nothing in any table; its number is 0", func() bool {
			var t slab.Table[number]
			t.Insert(number{7})
			var h slab.Handle[number]
			p, ok := t.Get(h)
			return p == nil && !ok && !t.Remove(h) && h.Uint64() == 0
		}}, none},
	{"pool.Pool",
		claim{"ready: makes objects with `new`, without bounds", func() bool {
			var p pool.Pool[number]
			x := p.Get()
			defer p.Put(x)
			return x.n == 0 && p.Stats().Max == 0 && p.Stats().MaxBytes == 0
		}},
		claim{"Go's heap: Get is `new`, Put leaves the object to the collector", func() bool {
			var p *pool.Pool[number]
			x := p.Get()
			p.Put(x)
			return x != nil && p.Get() != x && p.Trim() == 0
		}}},
	{"pool.Bytes",
		claim{"ready, keeps at most 64 MiB; buffers are cleared", func() bool {
			var p pool.Bytes
			b := p.Get(100)
			(*b)[0] = 1
			p.Put(b)
			c := p.Get(100)
			return len(*c) == 100 && (*c)[0] == 0 && p.Stats().MaxBytes == 64<<20
		}},
		claim{"Go's heap: Get makes a buffer, Put leaves it to the collector", func() bool {
			var p *pool.Bytes
			b := p.Get(100)
			p.Put(b)
			return len(*b) == 100 && p.Stats().Puts == 0
		}}},
	{"pool.Local",
		claim{"ready: makes objects with `new`, keeps 64", func() bool {
			var l pool.Local[number]
			x := l.Get()
			defer l.Put(x)
			return x.n == 0 && l.Stats().Max == 64
		}},
		claim{"panics", func() bool {
			var l *pool.Local[number]
			return panics(func() { l.Get() })
		}}},
	{"memctx.Context",
		claim{"as nil", func() bool {
			c := new(memctx.Context)
			c.Delete()
			return c.Arena() == nil && c.Child("x") == nil && c.Parent() == nil && c.String() == (*memctx.Context)(nil).String()
		}},
		claim{"no context: its Arena is nil, Go's heap, its children are nil, Bump is nil, all else does nothing", func() bool {
			var c *memctx.Context
			p := arena.New[number](c.Arena())
			c.OnReset(func() { panic("called") })
			c.Reset()
			c.Delete()
			c.Abandon()
			return c.Arena() == nil && c.Bump() == nil && c.Child("x") == nil && p.n == 0
		}}},
	{"shape.Shape",
		claim{"of no type: its size is 0", func() bool { return shape.Shape{}.Size() == 0 }}, none},
}

// panics reports whether f does.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestZero runs each claim, and checks that the table in DESIGN.md has them all. With
// -update it writes the table.
func TestZero(t *testing.T) {
	const file, head = "DESIGN.md", "| type | zero value | nil pointer |\n|---|---|---|\n"
	table := head
	for _, z := range zeros {
		for _, c := range []claim{z.zero, z.nil} {
			if !c.is() {
				t.Errorf("%s: %q is not true", z.name, c.text)
			}
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", z.name, z.zero.text, z.nil.text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(text), "\r\n", "\n")
	before, rest, ok := strings.Cut(doc, head)
	if !ok {
		t.Fatalf("%s has no table %q", file, head)
	}
	lines := strings.SplitAfter(rest, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "|") })
	if want := before + table + strings.Join(lines[end:], ""); want != doc {
		if !*update {
			t.Errorf("%s: the table of nil and zero is not that of zero_test.go; go test -run TestZero -update . writes it", file)
		} else if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
