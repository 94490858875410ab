// Package compiled holds tests only: they compile package callsite and fail when
// the compiler stops inlining a fast path that the documents promise to be
// inlined, when it clears memory in another way than GC.md says, or when a program
// gets large variables by an import.
package compiled
