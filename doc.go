// Package haven is the root of a module of memory allocators for programs that
// know the lifetime, the size or the owner of their memory better than a
// general allocator can. They work with Go's garbage collector instead of
// hiding from it. The packages are
//
//   - [github.com/haven-mem/haven/arena]: values of any Go type that end
//     together. Start here.
//   - [github.com/haven-mem/haven/bump]: large graphs that live long and point
//     only into themselves; the garbage collector never scans them.
//   - [github.com/haven-mem/haven/slab]: objects of one type that end one by one.
//   - [github.com/haven-mem/haven/pool]: objects and buffers that are used for a
//     moment and handed back.
//   - [github.com/haven-mem/haven/memctx]: a tree of lifetimes, each with an arena,
//     a limit and an owner; [github.com/haven-mem/haven/memhttp] has one for each
//     request, and [github.com/haven-mem/haven/debugpage] shows it.
//   - [github.com/haven-mem/haven/check]: what finds memory mistakes: the check build,
//     the sampled guard, stale pointers, leaks.
//   - [github.com/haven-mem/haven/shape]: size, alignment and pointer words of
//     any type, to see what the garbage collector has to look at.
//
// README.md helps to choose, DESIGN.md tells how it works and why, and GC.md
// lists the facts about Go's runtime that it relies on. The command
//
//	go run ./cmd/haven bench
//
// shows on the machine at hand what the allocators buy.
package haven
