package load

import (
	"runtime"
	"syscall"
	"time"
)

// A pacer waits for points in time. That of Linux has a thread for itself, which
// sleeps in the kernel: Go's timers are up to a millisecond late.
type pacer struct{}

// newPacer returns a pacer for the goroutine that calls it, which must close it.
func newPacer() pacer {
	runtime.LockOSThread()
	// The kernel may add the thread's timer slack, 50 µs, to each sleep. Without
	// permission it stays; then all times are a bit later.
	const setTimerSlack = 29
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
	return pacer{}
}

func (pacer) close() { runtime.UnlockOSThread() }

// wait returns at t, or soon after.
func (pacer) wait(t time.Time) {
	for {
		d := time.Until(t)
		if d <= 0 {
			return
		}
		ts := syscall.NsecToTimespec(int64(d))
		syscall.Nanosleep(&ts, nil) // a signal may end it early
	}
}
