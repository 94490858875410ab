// Package gcfacts holds tests only: each shows that a fact about Go's runtime
// that GC.md states, and that the allocators rely on, holds for the Go version
// at hand. Where a fact says that something ends the program, the test starts
// itself as a child process and looks at its end.
package gcfacts
