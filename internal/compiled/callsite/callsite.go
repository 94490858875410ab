// Package callsite calls the fast paths of Haven's allocators from outside
// their packages, the way a user's program does. No program imports it: the
// tests of package compiled compile it and read in the compiler's report what became of
// each call, so every call stands in a function of its own.
package callsite

import (
	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A node has pointers to its like and to the heap, as those of a parser do.
type node struct {
	left, right *node
	name        string
	args        []any
}

func laneNewInt(l *arena.Lane[int]) *int { return l.New() }

func laneNewNode(l *arena.Lane[node]) *node { return l.New() }

func bumpNewInt(a *bump.Arena) *int { return bump.New[int](a) }

func bumpNewNode(a *bump.Arena) *node { return bump.New[node](a) }

func localAllocInt(l *slab.Local[int]) *int { return l.Alloc() }

func localAllocNode(l *slab.Local[node]) *node { return l.Alloc() }

func localFreeInt(l *slab.Local[int], p *int) { l.Free(p) }

func localFreeNode(l *slab.Local[node], p *node) { l.Free(p) }

func tableGetInt(t *slab.Table[int], h slab.Handle[int]) (*int, bool) { return t.Get(h) }

func tableGetNode(t *slab.Table[node], h slab.Handle[node]) (*node, bool) { return t.Get(h) }

func typeWord(n *node) uintptr { return addr.TypeWord(n) }

func within(s, chunk []node) bool { return addr.Within(s, chunk) }

func stringOf(b []byte) string { return addr.String(b) }

func poolLocalGet(l *pool.Local[node]) *node { return l.Get() }

func poolLocalPut(l *pool.Local[node], n *node) { l.Put(n) }

// cachePair and poolPair make the compiler instantiate the methods that use the
// magazines of a P. They are too large to inline; each step in them must not be a
// call.
func cachePair(c *slab.Cache[node]) { c.Free(c.Alloc()) }

func poolPair(p *pool.Pool[node]) { p.Put(p.Get()) }

// arenaNew makes the compiler instantiate arena.New for a type of this package.
// That call itself is too large to inline; what it calls must be inlined in it.
func arenaNew(a *arena.Arena) *node { return arena.New[node](a) }

// pushNode is inlined up to the call for an arena that is not nil.
func pushNode(a *arena.Arena, s []*node, n *node) []*node { return arena.Push(a, s, n) }

// arenaAppend and bumpAppend make the compiler instantiate what appends, for the same reason
// as arenaNew.
func arenaAppend(a *arena.Arena, s []*node, n *node) []*node { return arena.Append(a, s, n, n) }

func bumpAppend(a *bump.Arena, s []int) []int { return bump.Append(a, bump.Push(a, s, 1), 2, 3) }

// A Tree appends to itself, for packages that do not use package arena themselves.
type Tree struct {
	Mem  *arena.Arena
	Kids []*Tree
}

func (t *Tree) Push(kid *Tree) { t.Kids = arena.Push(t.Mem, t.Kids, kid) }

func clearPointers(s []*node) { clear(s) }

func clearBytes(b []byte) { clear(b) }
