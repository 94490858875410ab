//go:build !unix

package check

// reserve returns a range of addresses without access.
func reserve() (first uintptr, size int) { return unmapped, unmappedSize }
