//go:build go1.25 && unix

package memctx_test

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// What first listens for a signal in a bubble of testing/synctest does not keep it from
// ending, and writes reports afterwards; it may be stopped in another.
func TestDumpOnSignalInBubble(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = w
	reports := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "memory contexts at ") {
				select {
				case reports <- true:
				default:
				}
			}
		}
	}()
	var stop func()
	synctest.Test(t, func(*testing.T) {
		memctx.DumpOnSignal(syscall.SIGWINCH)() // stopped before it listens
		stop = memctx.DumpOnSignal(syscall.SIGWINCH)
	})
	testkit.Until(t, "there is a report", func() bool {
		testkit.CollectGarbage()
		syscall.Kill(os.Getpid(), syscall.SIGWINCH) // which nobody minds
		return len(reports) > 0
	})
	synctest.Test(t, func(*testing.T) { stop() })
	stop()
}
