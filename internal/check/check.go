// Package check is what the check build (-tags haven_check) knows about memory that
// allocators take back: who allocated it, who released it, and that nobody has
// touched it since. In the default build the constant Enabled is false, and what
// it guards is compiled out.
//
// # Poison
//
// Memory that was released is filled ([Retire]): words without a pointer get a
// pattern, and each word that holds a pointer gets an address inside a range that
// the process has reserved without access. Whoever follows a stale pointer and then
// one that it finds there, a string, a slice, a map or an interface, takes a fault
// at an address that tells which release it was ([Explain]). Lengths of strings and
// slices get a number that is in reach of that address (words.go). The garbage collector
// looks at such a word, sees that it is not of its heap, and goes on. What has no
// pointers can be read without a fault: it reads as the pattern.
//
// # Quarantine
//
// Released memory waits in a queue, of 64 MiB unless HAVEN_CHECK says otherwise,
// before it goes to the garbage collector. On its way out, and at [Verify], it is
// compared with the poison: a difference is a write after the release, and the
// report names type, field, value, and where the memory was allocated and
// released.
//
// # Pools
//
// What is put into a pool may come from anywhere, and go to the collector at any
// time. What is known of it ([Loan]) is in one index of addresses for all pools, which
// keeps nothing alive; what waits is in a queue of each pool's ([Idle]).
//
// # Red zones
//
// Untyped memory ([Untyped]) has bytes before and behind each allocation that nobody
// may write to. They are looked at when the memory is released, and at [Verify].
//
// # Pointers to the heap
//
// Untyped memory keeps nothing alive that is elsewhere. [Verify] finds pointers there to
// objects that nothing else keeps (outside_on.go).
//
// # Two goroutines
//
// What is for one goroutine at a time has a [Busy], which finds operations that
// overlap.
//
// The ideas are those of debugging allocators since Purify and Electric Fence; a
// quarantine is from AddressSanitizer.
package check
