package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/outside"
)

// When a fault ends a program, nothing of the program runs any more. The monitor is
// another process, which gets what the runtime prints through a pipe and has the records
// of the areas in a file that both have open. (The way to have a process of the same
// program for that is the one of runtime/debug's documentation.)

// monitorVar tells a process that it is the monitor.
const monitorVar = "HAVEN_GUARD_MONITOR"

// recordSize is what an area has in the file: room for two stacks of 24 program
// counters, and names.
const recordSize = 4 << 10

var monitor struct {
	mu   sync.Mutex
	file *os.File // nil: there is no monitor
}

// A record is what the file has of an area.
type record struct {
	Whose        string
	Own          bool
	Start, Limit uintptr
	Made, End    []uintptr
}

// A header is what all of them have in common: the first entry of the file.
type header struct {
	geometry
	Text  uintptr // where code lies
	Pages int     // of the check build
}

// text returns the address of a function, by which those of two processes differ.
func text() uintptr { return reflect.ValueOf(Monitor).Pointer() }

// Monitor starts the monitor, or is it, and then does not return.
func Monitor() error {
	if os.Getenv(monitorVar) != "" {
		watch(os.Stdin, os.NewFile(3, "records"), os.Stderr)
		os.Exit(0)
	}
	if elsewhere && !check.Enabled {
		return nil
	}
	if runtime.GOOS == "windows" {
		return errors.New("haven: no monitor on windows")
	}
	m := &monitor
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != nil {
		return nil
	}
	f, err := start()
	if err != nil {
		return fmt.Errorf("haven: the guard's monitor: %w", err)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	m.file = f
	if check.Enabled {
		check.NotePages(notePage)
	}
	for _, a := range all.areas {
		note(a)
	}
	return nil
}

// start starts the process and returns the file for the records.
func start() (*os.File, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "haven-guard")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	r, w, err := os.Pipe()
	if err != nil {
		f.Close()
		return nil, err
	}
	defer w.Close() // there is a duplicate of it
	defer r.Close()
	cmd := exec.Command(exe)
	cmd.Env = []string{monitorVar + "=1"}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, Variable+"=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Stdin, cmd.Stderr, cmd.ExtraFiles = r, os.Stderr, []*os.File{f}
	if err := cmd.Start(); err != nil {
		f.Close()
		return nil, err
	}
	if err := debug.SetCrashOutput(w, debug.CrashOptions{}); err != nil {
		f.Close()
		return nil, err // it finds the end of its input, and ends
	}
	outside.Do(func() { go cmd.Wait() })
	return f, nil
}

// note writes what is known of an area. The lock is held.
func note(a *area) {
	f := monitor.file
	if f == nil || a.whose == "" {
		return
	}
	r := record{a.whose, a.own, a.start, a.limit, a.made.PCs(), a.end.PCs()}
	if a.index == 0 {
		write(f, 0, header{geometry: all.region.geometry(), Text: text()})
	}
	write(f, 1+a.index, r)
}

// write writes an entry of the file.
func write(f *os.File, at int, v any) {
	b, err := json.Marshal(v)
	if err == nil && len(b) < recordSize {
		f.WriteAt(append(b, '\n'), int64(at)*recordSize)
	}
}

// watch is the monitor: it waits for the end of what the runtime prints, which is also
// that of the process.
func watch(crash io.Reader, records io.ReaderAt, out io.Writer) {
	signal.Ignore(os.Interrupt) // which the terminal sends to both
	b, _ := io.ReadAll(crash)
	if r := diagnose(b, records); r != nil {
		fmt.Fprintf(out, "\n%v\n", r)
	}
}

var faultLine = regexp.MustCompile(`(?m)^(?:unexpected fault address|\[signal .* addr=)\s*(0x[0-9a-f]+)`)

// diagnose returns the report for what the runtime printed, or nil.
func diagnose(crash []byte, records io.ReaderAt) *check.Report {
	address := uint64(0)
	if m := faultLine.FindSubmatch(crash); m != nil {
		address, _ = strconv.ParseUint(string(m[1]), 0, 64)
	} else if !check.Enabled {
		return nil
	}
	read := func(at int, v any) bool {
		b, _ := bufio.NewReader(io.NewSectionReader(records, int64(at)*recordSize, recordSize)).ReadBytes('\n')
		return json.Unmarshal(b, v) == nil
	}
	var h header
	if !read(0, &h) {
		return nil
	}
	stack := func(pcs []uintptr) *leak.Site {
		for i := range pcs {
			pcs[i] += text() - h.Text
		}
		return leak.At(pcs)
	}
	if check.Enabled {
		r := h.diagnose(crash, uintptr(address), read, stack)
		if r != nil {
			r.Now = firstStack(crash)
		}
		return r
	}
	a := h.near(uintptr(address), func(i int) *area {
		var r record
		if i < 0 || !read(1+i, &r) || r.Whose == "" {
			return nil
		}
		return &area{whose: r.Whose, own: r.Own, start: r.Start, limit: r.Limit, made: stack(r.Made), end: stack(r.End)}
	})
	if a == nil {
		return nil
	}
	r := a.explain(uintptr(address))
	r.Now = firstStack(crash)
	return r
}

// firstStack returns the stack of the goroutine that crashed.
func firstStack(crash []byte) string {
	_, rest, ok := bytes.Cut(crash, []byte("\ngoroutine "))
	if !ok {
		return ""
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	stack, _, _ := bytes.Cut(rest, []byte("\n\n"))
	return string(stack)
}
