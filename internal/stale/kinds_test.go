package stale_test

import (
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// node is what programs allocate: it has pointers, and is in cycles with others.
type node struct {
	next, prev *node
	other      *leaf
	n          [5]int
}

type leaf struct {
	up   *node
	text string
}

const nodes = 100

// ring makes a ring of nodes with a leaf each, and returns one of the middle.
func ring(newNode func() *node, newLeaf func() *leaf) *node {
	first := newNode()
	last := first
	for range nodes - 1 {
		n := newNode()
		n.prev, last.next = last, n
		last = n
	}
	first.prev, last.next = last, first
	for n := first; ; n = n.next {
		n.other = newLeaf()
		n.other.up = n
		if n.next == first {
			break
		}
	}
	p := first
	for range nodes / 2 {
		p = p.next
	}
	return p
}

func ringIn(a *arena.Arena) *node {
	return ring(func() *node { return arena.New[node](a) }, func() *leaf { return arena.New[leaf](a) })
}

const (
	nodeType = "stale_test.node"
	leafType = "stale_test.leaf"
)

// A kind is a way to allocate and to release. The function hands keep what
// a program must not keep, then releases it.
type kind struct {
	name          string
	what, of, typ string // what is to be found
	run           func(t *testing.T, keep func(any))
}

// owners has what released memory, so that it is there when the memory is looked
// for: what it keeps would be found.
var owners []any

func held[T any](x T) T {
	owners = append(owners, x)
	return x
}

var (
	globalPool    arena.Pool
	globalObjects pool.Pool[node]
)

var kinds = []kind{
	{"arena", "arena", "request", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "request"}))
		keep(ringIn(a))
		a.Reset()
	}},
	{"arena used again", "arena", "again", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "again"}))
		keep(ringIn(a))
		for range 5 {
			a.Reset()
			ringIn(a)
		}
		a.Reset()
	}},
	{"arena that is freed", "arena", "freed", leafType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "freed"}))
		keep(ringIn(a).other)
		a.Reset()
		ringIn(a)
		a.Free() // takes nothing back
	}},
	{"arena with callbacks", "arena", "callbacks", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "callbacks"}))
		n := ringIn(a)
		a.OnReset(func() { keep(n.next) })
		a.Reset()
	}},
	{"lane", "lane", "", nodeType, func(t *testing.T, keep func(any)) {
		l := held(new(arena.Lane[node]))
		keep(ring(l.New, func() *leaf { return new(leaf) }))
		l.Reset()
	}},
	{"lane of an arena", "arena", "lanes", leafType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "lanes"}))
		l := arena.LaneOf[leaf](a)
		n := ringIn(a)
		keep(&n.other.text)
		for p := n; p.other != nil; p = p.next {
			p.other = nil // since the lane is reset alone
		}
		l.Reset()
		ringIn(a)
	}},
	{"slice", "arena", "slices", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "slices"}))
		s := arena.MakeSlice[node](a, 5000, 5000) // a chunk of its own
		for i := range s {
			s[i].next = &s[(i+7)%len(s)]
		}
		keep(s[4000:4001])
		ringIn(a)
		a.Reset()
	}},
	{"slice of pointers", "arena", "pointers", "*" + nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "pointers"}))
		s := arena.MakeSlice[*node](a, 5000, 5000)
		for i := range s {
			s[i] = arena.New[node](a)
		}
		keep(&s[10])
		a.Reset()
	}},
	{"string", "arena", "strings", "uint8", func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "strings"}))
		ringIn(a).other.text = arena.String(a, "some text")
		keep(arena.String(a, "the key")[4:])
		a.Reset()
	}},
	{"dynamic lane", "arena", "dynamic", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "dynamic"}))
		newNode := func() *node { return arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node) }
		keep(ring(newNode, func() *leaf { return arena.New[leaf](a) }))
		a.Reset()
	}},
	{"dynamic lane of one chunk", "arena", "one", nodeType, func(t *testing.T, keep func(any)) {
		a := held(arena.NewArena(arena.Config{Name: "one"}))
		n := arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node)
		n.next = n
		keep(n)
		a.Reset()
	}},
	{"arena.Pool", "arena", "pooled", nodeType, func(t *testing.T, keep func(any)) {
		p := held(arena.NewPool(arena.Config{Name: "pooled"}))
		a := p.Get()
		keep(ringIn(a))
		p.Put(a)
		a = p.Get()
		ringIn(a)
		p.Put(a)
	}},
	{"global arena.Pool", "arena", "", nodeType, func(t *testing.T, keep func(any)) {
		a := globalPool.Get()
		keep(ringIn(a))
		globalPool.Put(a)
	}},
	{"bump arena", "bump arena", "", "untyped memory", func(t *testing.T, keep func(any)) {
		a := held(new(bump.Arena))
		keep(ring(func() *node { return bump.New[node](a) }, func() *leaf { return bump.New[leaf](a) }))
		a.Reset()
		ring(func() *node { return bump.New[node](a) }, func() *leaf { return bump.New[leaf](a) })
		a.Reset()
	}},
	{"memctx Delete", "arena", "conn", nodeType, func(t *testing.T, keep func(any)) {
		c := memctx.New("server").Child("conn")
		keep(ringIn(c.Arena()))
		c.Delete()
	}},
	{"memctx Reset", "arena", "batch", nodeType, func(t *testing.T, keep func(any)) {
		c := memctx.New("batch", memctx.Config{Limit: 1 << 20})
		keep(ringIn(c.Arena()))
		ringIn(c.Child("below").Arena()) // warm arenas of that name
		c.Reset()
		// The check build puts another chunk in the place of one that would be kept.
		if n := c.Stats().Total.Bytes; n != 0 && !check.Enabled {
			t.Errorf("the context is charged %d bytes for what was dropped", n)
		}
		c.Delete()
	}},
	{"slab.Cache", "cache", "nodes", nodeType, func(t *testing.T, keep func(any)) {
		c := held(slab.NewCache(slab.Config[node]{Name: "nodes"}))
		keep(cacheRing(c, 500))
		if c.Trim() == 0 {
			t.Error("nothing was given back")
		}
	}},
	{"slab.Cache that builds", "cache", "built", nodeType, func(t *testing.T, keep func(any)) {
		var last *node
		c := held(slab.NewCache(slab.Config[node]{Name: "built", Reset: func(*node) {}, Init: func(n *node) { n.next, last = last, n }}))
		keep(cacheRing(c, 2000))
		last = nil
		if c.Trim() == 0 {
			t.Error("nothing was given back")
		}
	}},
	{"slab.Local", "local", "", nodeType, func(t *testing.T, keep func(any)) {
		l := held(new(slab.Local[node]))
		var all []*node
		for i := range 3000 {
			all = append(all, l.Alloc())
			if i > 0 {
				all[i].prev, all[i-1].next = all[i-1], all[i]
			}
		}
		keep(all[1234])
		for _, n := range all {
			l.Free(n)
		}
		if l.Trim() == 0 {
			t.Error("nothing was given back")
		}
	}},
	{"pool.Pool", "pool", "objects", nodeType, func(t *testing.T, keep func(any)) {
		p := held(pool.New[node](nil, pool.Config[node]{Name: "objects", Reset: func(n *node) { *n = node{} }}))
		keep(objectRing(p))
	}},
	{"pool.Pool with newFn and Cost", "pool", "costs", nodeType, func(t *testing.T, keep func(any)) {
		p := pool.New(func() *node { n := new(node); n.next = n; return n }, pool.Config[node]{
			Name:     "costs",
			Cost:     func(*node) int { return 7 },
			MaxBytes: 1 << 20,
		})
		keep(objectRing(p))
	}},
	{"global pool.Pool", "pool", "", nodeType, func(t *testing.T, keep func(any)) {
		keep(objectRing(&globalObjects))
	}},
	{"pool.Bytes", "pool", "buffers", "[]uint8", func(t *testing.T, keep func(any)) {
		b := held(pool.NewBytes(pool.BytesConfig{Name: "buffers"}))
		var all []*[]byte
		for i := range 300 {
			all = append(all, b.Get(10*i))
		}
		keep((*all[100])[3:5])
		for _, p := range all {
			b.Put(p)
		}
	}},
	{"pool.Bytes, the header", "pool", "headers", "[]uint8", func(t *testing.T, keep func(any)) {
		b := held(pool.NewBytes(pool.BytesConfig{Name: "headers", Dirty: true}))
		p := b.Get(1000)
		keep(p)
		b.Put(p)
	}},
}

// objectRing makes a ring of objects, takes it apart and puts the objects.
func objectRing(p *pool.Pool[node]) *node {
	var all []*node
	n := ring(func() *node { all = append(all, p.Get()); return all[len(all)-1] }, func() *leaf { return new(leaf) })
	for _, x := range all {
		*x = node{}
		p.Put(x)
	}
	return n
}

func cacheRing(c *slab.Cache[node], n int) *node {
	var all []*node
	for range n {
		all = append(all, c.Alloc())
	}
	kept := all[len(all)/3]
	for _, p := range all {
		c.Free(p)
	}
	return kept
}
