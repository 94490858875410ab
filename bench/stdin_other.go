//go:build !unix

package bench

import "os"

// unblocked returns f: this system has no poller for pipes.
func unblocked(f *os.File) *os.File { return f }
