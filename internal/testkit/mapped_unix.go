//go:build linux || darwin

package testkit

import (
	"syscall"
	"testing"
)

// Mapped returns memory of the system's, which is zero and no part of Go's heap. It stays
// for the life of the process, so that whoever keeps it too long finds it.
func Mapped(t testing.TB, bytes int) []byte {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
