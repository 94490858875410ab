package memctx

import (
	"os"
	"os/signal"
	"sync"

	"github.com/haven-mem/haven/internal/outside"
)

// DumpOnSignal writes a report to standard error whenever the process gets sig,
// until stop is called. It panics if sig is nil. (In a bubble of testing/synctest
// it listens from the next garbage collection on.)
//
//	stop := memctx.DumpOnSignal(syscall.SIGUSR1)
func DumpOnSignal(sig os.Signal) (stop func()) {
	if sig == nil {
		panic("memctx: DumpOnSignal(nil): want a signal, like syscall.SIGUSR1")
	}
	d := new(dump)
	outside.Do(func() { d.start(sig) })
	return d.stop
}

// A dump is what DumpOnSignal started.
type dump struct {
	mu      sync.Mutex
	signals chan os.Signal // nil before start
	stopped bool
}

func (d *dump) start(sig os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, sig)
	go func() {
		for range c {
			WriteReport(os.Stderr, ReportOptions{})
		}
	}()
	d.signals = c
}

func (d *dump) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped && d.signals != nil {
		signal.Stop(d.signals)
		close(d.signals)
	}
	d.stopped = true
}
