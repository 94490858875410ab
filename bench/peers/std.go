//go:build goexperiment.arenas

package main

import std "arena"

func init() {
	peers = append(peers, struct {
		name string
		make func() peer
	}{"std+free", func() peer { return new(stdArena) }})
}

// stdArena has an arena for each document: it has no Reset.
type stdArena struct{ a *std.Arena }

func (s *stdArena) document(n int) object {
	s.a = std.NewArena()
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := std.New[text](s.a)
			o.s = word(i)
			o.up, o.n, up = up, i, o
		case 1:
			o := std.New[attr](s.a)
			o.key, o.value, o.bits = word(i), word(i+1), uint64(i)
			o.up, o.n, up = up, i, o
		default:
			o := std.New[element](s.a)
			o.name = word(i)
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				if len(o.children) == cap(o.children) {
					more := std.MakeSlice[object](s.a, len(o.children), max(1, 2*cap(o.children)))
					copy(more, o.children)
					o.children = more
				}
				o.children = append(o.children, c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

func (s *stdArena) end() { s.a.Free() }
