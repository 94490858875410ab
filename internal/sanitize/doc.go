// Package sanitize tells Go's sanitizers what allocators do with memory: whoever
// builds a program with -asan, -msan or -race hears of the use of memory that was
// taken back, or that was never handed out. In other builds the constants are
// false, and what they guard is compiled out.
//
// Memory is in one of two states. What lies in an allocator, new or used before, is
// withheld; what it hands out is granted; and what it takes back is revoked, which
// withholds it again. What was granted before it goes to the garbage collector
// because its arena was freed stays granted: the memory is as it was.
//
//   - With -asan what is withheld is poisoned: any access by Go code ends the
//     program with the address sanitizer's report. It knows eight bytes at a time,
//     so what shares such a word with memory in use may be accessed.
//   - With -msan a read of it is reported, as one of memory that nobody wrote to. A
//     write makes it readable.
//   - With -race revoking is a write to all of it: another goroutine that reads it,
//     sooner or later, with nothing in between that orders the two, is reported.
//     The detector must be told, because the compiler does not instrument clear.
//
// Nothing has to be undone for memory that goes to the garbage collector: the
// runtime poisons what it frees, and makes it accessible when it allocates, whatever
// was there. The runtime's own code, which clears, copies and marks, is not
// instrumented, so memory may be cleared after it was revoked. That of package
// reflect is.
//
// A call takes some tens of nanoseconds, being one into C, and may not be made by a
// goroutine that is pinned to its P: the scheduler could take the P away.
//
// The check build has poison of its own, which it looks at: there the constants are
// false.
package sanitize
