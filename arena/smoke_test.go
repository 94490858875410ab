package arena_test

import (
	"testing"

	"github.com/haven-mem/haven/arena"
)

type node struct{ l, r *node; v int }

var sinkN *node
var sinkI *int

func tree(a *arena.Arena, d int) *node {
	n := arena.New[node](a)
	if d > 0 { n.l = tree(a, d-1); n.r = tree(a, d-1) }
	return n
}
func treeL(a *arena.Lane[node], d int) *node {
	n := a.New()
	if d > 0 { n.l = treeL(a, d-1); n.r = treeL(a, d-1) }
	return n
}
func treeH(d int) *node {
	n := new(node)
	if d > 0 { n.l = treeH(d-1); n.r = treeH(d-1) }
	return n
}
func BenchmarkTree(b *testing.B) {
	b.Run("new", func(b *testing.B) { for b.Loop() { sinkN = treeH(16) } })
	b.Run("arena", func(b *testing.B) { a := arena.NewArena(); for b.Loop() { sinkN = tree(a,16); a.Reset() } })
	b.Run("fresh", func(b *testing.B) { for b.Loop() { a := arena.NewArena(); sinkN = tree(a,16) } })
	b.Run("lane", func(b *testing.B) { a := arena.NewArena(); l:=arena.LaneOf[node](a);for b.Loop() { sinkN = treeL(l,16); a.Reset() } })
}
func BenchmarkInt(b *testing.B) {
	const n = 100000
	b.Run("new", func(b *testing.B) { for b.Loop() { for range n { sinkI = new(int) } } })
	b.Run("arena", func(b *testing.B) { a := arena.NewArena(); for b.Loop() { for range n { sinkI = arena.New[int](a) }; a.Reset() } })
	b.Run("fresh", func(b *testing.B) { for b.Loop() { a := arena.NewArena(); for range n { sinkI = arena.New[int](a) } } })
	b.Run("lane", func(b *testing.B) { a := arena.NewArena(); l:=arena.LaneOf[int](a);for b.Loop() { for range n { sinkI = l.New() }; a.Reset() } })
}
