package main

import (
	"sync"

	"github.com/ortuman/nuke"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// peers are the ways of allocating, Go's heap first. The program is written once for
// each, so that none of them pays for a call through an interface at each object.
var peers = []struct {
	name string
	make func() peer
}{
	{"new", func() peer { return heap{} }},
	{"arena+reset", func() peer { return havenArena{arena.NewArena()} }},
	{"arena+pool", func() peer { return &havenPool{pool: arena.NewPool()} }},
	{"sync.Pool+arena", func() peer { return &syncPool{pool: sync.Pool{New: func() any { return arena.NewArena() }}} }},
	{"bump+reset", func() peer { return havenBump{new(bump.Arena)} }},
	{"chunks+reset", func() peer { return new(chunks) }},
	{"nuke+reset", func() peer { return nukeArena{nuke.NewMonotonicArena(largest*nukeObject, 1)} }},
}

type heap struct{}

func (heap) document(n int) object {
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := &text{s: word(i)}
			o.up, o.n, up = up, i, o
		case 1:
			o := &attr{key: word(i), value: word(i + 1), bits: uint64(i)}
			o.up, o.n, up = up, i, o
		default:
			o := &element{name: word(i)}
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				o.children = append(o.children, c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

func (heap) end() {}

// onArena makes a document in an arena of Haven's.
func onArena(a *arena.Arena, n int) object {
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := arena.New[text](a)
			o.s = word(i)
			o.up, o.n, up = up, i, o
		case 1:
			o := arena.New[attr](a)
			o.key, o.value, o.bits = word(i), word(i+1), uint64(i)
			o.up, o.n, up = up, i, o
		default:
			o := arena.New[element](a)
			o.name = word(i)
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				o.children = arena.Append(a, o.children, c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

type havenArena struct{ a *arena.Arena }

func (h havenArena) document(n int) object { return onArena(h.a, n) }
func (h havenArena) end()                  { h.a.Reset() }

type havenPool struct {
	pool *arena.Pool
	a    *arena.Arena
}

func (h *havenPool) document(n int) object {
	h.a = h.pool.Get()
	return onArena(h.a, n)
}

func (h *havenPool) end() { h.pool.Put(h.a) }

type syncPool struct {
	pool sync.Pool
	a    *arena.Arena
}

func (s *syncPool) document(n int) object {
	s.a = s.pool.Get().(*arena.Arena)
	return onArena(s.a, n)
}

func (s *syncPool) end() {
	s.a.Reset()
	s.pool.Put(s.a)
}

type havenBump struct{ a *bump.Arena }

func (h havenBump) document(n int) object {
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := bump.New[text](h.a)
			o.s = word(i)
			o.up, o.n, up = up, i, o
		case 1:
			o := bump.New[attr](h.a)
			o.key, o.value, o.bits = word(i), word(i+1), uint64(i)
			o.up, o.n, up = up, i, o
		default:
			o := bump.New[element](h.a)
			o.name = word(i)
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				o.children = bump.Append(h.a, o.children, c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

func (h havenBump) end() { h.a.Reset() }

// nukeObject is the most bytes that an object takes on average, with its list, which
// grows by 1, 2, 4 and 8 pointers.
const nukeObject = 144

type nukeArena struct{ a nuke.Arena }

func (k nukeArena) document(n int) object {
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := nuke.New[text](k.a)
			o.s = word(i)
			o.up, o.n, up = up, i, o
		case 1:
			o := nuke.New[attr](k.a)
			o.key, o.value, o.bits = word(i), word(i+1), uint64(i)
			o.up, o.n, up = up, i, o
		default:
			o := nuke.New[element](k.a)
			o.name = word(i)
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				o.children = nuke.SliceAppend(k.a, o.children, c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

func (k nukeArena) end() { k.a.Reset(false) }
