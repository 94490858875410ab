//go:build unix

package memctx_test

import (
	"bufio"
	"bytes"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A report comes with each signal, until stop is called.
func TestDumpOnSignal(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	server := memctx.New("signalled")
	lines := bufio.NewScanner(r)
	stop := memctx.DumpOnSignal(syscall.SIGUSR1)
	for range 3 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		// The last line is that of the name; whatever comes before is the report.
		begun, found := false, false
		for !found && lines.Scan() {
			begun = begun || strings.HasPrefix(lines.Text(), "memory contexts at ")
			found = begun && strings.HasPrefix(lines.Text(), "signalled: 1 live")
		}
		if !found {
			t.Fatalf("no report: %v", lines.Err())
		}
	}
	mine := make(chan os.Signal, 1)
	signal.Notify(mine, syscall.SIGUSR1)
	stop()
	stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-mine
	stacks := func() []byte {
		buf := make([]byte, 1<<20)
		return buf[:runtime.Stack(buf, true)]
	}
	for end := time.Now().Add(10 * time.Second); bytes.Contains(stacks(), []byte("memctx.(*dump)")); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("stop left a goroutine:\n%s", stacks())
		}
	}
	os.Stderr = stderr
	w.Close()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "memory contexts at ") {
			t.Error("a report after stop")
		}
	}
	server.Delete()
}
