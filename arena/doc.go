// Package arena gives values of any Go type that end together memory that ends
// together: the nodes of a parse, the objects of a request, the rows of a
// query.
//
// Use it where a program makes many small objects with one lifetime and
// allocation or garbage collection tops its profile. Do not use it for objects
// that end one by one (see package slab), for a handful of objects, or for what
// outlives the work at hand: one pointer that is kept keeps its whole chunk.
//
//	a := arena.NewArena(arena.Config{Name: "request"})
//	n := arena.New[Node](a)            // zero, like new(Node)
//	s := arena.MakeSlice[int](a, 0, 8) // like make([]int, 0, 8)
//	s = arena.Push(a, s, 1)            // grows in place where it can
//	s = arena.Append(a, s, 2, 3)       // the same for several values
//	a.Reset()                          // all gone, memory kept
//
// # What a fresh arena costs
//
// An arena is one object of 384 bytes; its first type costs a chunk more. Together that is
// about what seven small objects cost, the garbage collector's part included, so a fresh arena
// is slower than new below some twelve objects of a type and faster above. Each further
// type costs a chunk, and now and then room for a few lanes. The first chunk of a type has
// 128 bytes to 4 KiB, as much as fresh arenas needed of it lately. For tiny rounds, and
// wherever rounds repeat, the answer is a [Pool], or one arena and [Arena.Reset]: they
// allocate nothing.
//
// # Types, lanes and the garbage collector
//
// An arena keeps one [Lane] for each type: chunks of []T in which it bumps a
// cursor. Because a chunk is an ordinary slice of its own type, the garbage
// collector sees every pointer in it; heap pointers, maps, channels,
// interfaces and functions may be stored like anywhere else, and what they
// refer to stays alive for as long as the value does. And because a chunk is
// reused only as []T, a pointer that was kept over a [Arena.Reset] reads
// another T: wrong data, never a corrupted heap. The package holds no unsafe
// code.
//
// # Lifetimes
//
// Memory is reused only where the caller says so: by [Arena.Reset],
// [Arena.Release] of a [Mark], and [Pool.Put]. [Arena.Free], and forgetting an
// arena, only drop references, and the garbage collector does the rest.
//
// Pointers kept over a Reset are found by sampling: one Reset in 1024 does not hand
// the memory out again, and the garbage collector tells what still refers to it. See
// StalePointers of package check, and VerifyNoStale for tests.
//
// Everything handed out is zero. Reset clears what was used, so that nothing
// from before stays reachable through the arena.
package arena
