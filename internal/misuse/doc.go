// Package misuse holds tests only: a table of mistakes that programs make with
// memory, each with every kind of memory it can be made with, at many sizes and
// offsets, and in every mode that finds mistakes: the default build, the race
// detector, the check build, the address and the memory sanitizer, the sampled guard, and
// the search for stale pointers. What each mode finds, and when, is in the files of testdata;
// the test fails where one finds more or less than they say. One of them, matrix.md, has all
// modes side by side, and MISTAKES.md has twelve rows for newcomers.
//
// # How
//
// A trial is one mistake with one kind of memory, a type and an offset. It runs in a
// child process, which says what it is about to do and what it is told; what ends
// that process, such as a fault, ends the trial, and the rest goes on in another.
// A mistake is found at once if somebody says so before the wrong operation has
// returned, and later if it is said by what a program does afterwards: it asks
// check.Verify, uses the memory again, gives back what is free, and looks for stale pointers.
//
// A report must name the right lines: those of the allocation and the release in the check
// build, that of the release in the guard's and of a stale pointer, that of the wrong access
// in what a sanitizer prints, which has its address only, or none of it. Where it does not,
// the table says so.
//
//	go test ./internal/misuse           the default build, stale pointers and guard, with some types
//	go test ./internal/misuse -every    with all types and offsets
//	go test -race ./internal/misuse     and so on with -asan, -msan, and -tags haven_check
//	go test ./internal/misuse -run Table/default -update
//
// An update writes the table of the mode; with -run Matrix it writes matrix.md and the table
// of MISTAKES.md.
package misuse
