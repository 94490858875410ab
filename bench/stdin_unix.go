//go:build unix

package bench

import (
	"os"
	"syscall"
)

// unblocked returns f, or a file for the same pipe, such that a read waits in
// the runtime's poller and not in a system call. From Go 1.26 on, a goroutine
// that enters a long system call just when another stops the world, as
// ReadMemStats does, can be overlooked, and the world then stops a minute later,
// when the runtime's monitor looks again.
func unblocked(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return f
	}
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return f
	}
	return os.NewFile(fd, f.Name())
}
