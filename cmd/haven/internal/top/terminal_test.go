//go:build unix

package top

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// A fakeTerminal is a pseudo-terminal and the emulator behind it.
type fakeTerminal struct {
	t           *testing.T
	keyboard    *os.File // ours
	tty         *os.File // the program's
	before      *term.State
	readerEnded chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	screen  *emulator
}

func newFakeTerminal(t *testing.T, width, height int) *fakeTerminal {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	f := &fakeTerminal{t: t, keyboard: keyboard, tty: tty, readerEnded: make(chan struct{}), changed: make(chan struct{}), screen: newEmulator(width, height)}
	t.Cleanup(func() {
		// The reads of keys and of the screen end only with the last use of the
		// terminal: a line lets go of one that waits for keys in this process.
		keyboard.WriteString("\n")
		tty.Close()
		keyboard.Close()
		<-f.readerEnded
	})
	f.setSize(width, height)
	if f.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	go f.readScreen()
	return f
}

func (f *fakeTerminal) readScreen() {
	defer close(f.readerEnded)
	buf := make([]byte, 4096)
	for {
		n, err := f.keyboard.Read(buf)
		f.mu.Lock()
		f.screen.Write(buf[:n])
		close(f.changed)
		f.changed = make(chan struct{})
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (f *fakeTerminal) setSize(width, height int) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen.resize(width, height)
	if err := pty.Setsize(f.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeTerminal) press(keys string) {
	f.t.Helper()
	if _, err := f.keyboard.WriteString(keys); err != nil {
		f.t.Fatal(err)
	}
}

// wait returns when the screen is as it should be. The time is only for when it
// never is.
func (f *fakeTerminal) wait(what string, ok func(e *emulator) bool) {
	f.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		f.mu.Lock()
		err, found, text, changed := f.screen.err, ok(f.screen), f.screen.text(), f.changed
		f.mu.Unlock()
		if err != nil {
			f.t.Fatalf("the terminal does not understand %v:\n%s", err, text)
		}
		if found {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			f.t.Fatalf("the screen never had %s:\n%s", what, text)
		}
	}
}

func (f *fakeTerminal) waitText(part string) {
	f.t.Helper()
	f.wait(part, func(e *emulator) bool { return e.alternate && e.hidden && strings.Contains(e.text(), part) })
}

// waitRestored checks that the terminal is as it was.
func (f *fakeTerminal) waitRestored() {
	f.t.Helper()
	f.wait("what was there before", func(e *emulator) bool { return !e.alternate && !e.hidden && e.wrap && e.before != "" })
	after, err := term.GetState(int(f.tty.Fd()))
	if err != nil {
		f.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, f.before) {
		f.t.Errorf("the terminal's settings are %+v, and were %+v", after, f.before)
	}
}

// commandDir is where the command is built, "" until it is.
var commandDir string

// command builds the command once.
var command = sync.OnceValues(func() (exe string, err error) {
	if commandDir, err = os.MkdirTemp("", "haven-top-"); err != nil {
		return "", err
	}
	exe = filepath.Join(commandDir, "haven")
	if out, err := exec.Command("go", "build", "-o", exe, "github.com/haven-mem/haven/cmd/haven").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return exe, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(commandDir)
	os.Exit(status)
}

// start runs the command on the terminal, which is of the type that TERM says.
func (f *fakeTerminal) start(terminal string, args ...string) *exec.Cmd {
	f.t.Helper()
	exe, err := command()
	if err != nil {
		f.t.Fatal(err)
	}
	c := exec.Command(exe, append([]string{"top"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = f.tty, f.tty, f.tty
	c.Env = append(os.Environ(), "TERM="+terminal)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Process.Kill() })
	return c
}

// ended waits for the end of a command and returns its exit status.
func ended(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	get(t, done)
	return c.ProcessState.ExitCode()
}

// TestTerminal uses the command as people do.
func TestTerminal(t *testing.T) {
	server := httptest.NewServer(servePage(t))
	defer server.Close()
	f := newFakeTerminal(t, 80, 24)
	c := f.start("xterm", "-interval", "100ms", server.URL)
	f.waitText("tree of contexts, sorted by bytes")
	f.mu.Lock()
	s := fixedState(t)
	s.target = strings.TrimPrefix(server.URL, "http://")
	if got, want := f.screen.text(), sequences.ReplaceAllString(draw(s, 80, 24), ""); got != trimLines(want)+"\n" {
		t.Errorf("the screen is\n%s, want\n%s", got, want)
	}
	f.mu.Unlock()
	f.press("s")
	f.waitText("slab caches, sorted by bytes")
	f.press("n")
	f.waitText("slab caches, sorted by name")
	f.press("\x1b[D") // left
	f.waitText("limits, sorted by full")
	f.press("?")
	f.waitText("Any key goes back")
	f.press("\x1b")
	f.waitText("limits, sorted by full")
	f.press("t")
	f.setSize(200, 40) // no key: the command looks at the size
	f.waitText("RESERVED")
	server.Close()
	f.waitText("connection refused; is the program running")
	f.waitText("gateway")
	f.press("q")
	if status := ended(t, c); status != 0 {
		t.Errorf("exit status %d", status)
	}
	f.waitRestored()
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestTerminalRestored ends the command in other ways.
func TestTerminalRestored(t *testing.T) {
	address := serve(t, servePage(t))
	for name, tc := range map[string]struct {
		end    func(f *fakeTerminal, c *exec.Cmd)
		status int
	}{
		"Ctrl-C":  {func(f *fakeTerminal, _ *exec.Cmd) { f.press("\x03") }, 0},
		"SIGTERM": {func(_ *fakeTerminal, c *exec.Cmd) { c.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGINT":  {func(_ *fakeTerminal, c *exec.Cmd) { c.Process.Signal(syscall.SIGINT) }, 130},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeTerminal(t, 80, 24)
			c := f.start("xterm", address)
			f.waitText("server")
			tc.end(f, c)
			if status := ended(t, c); status != tc.status {
				t.Errorf("exit status %d, want %d", status, tc.status)
			}
			f.waitRestored()
		})
	}
}

func TestTerminalColour(t *testing.T) {
	address := serve(t, servePage(t))
	for value, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("NO_COLOR", value)
		f := newFakeTerminal(t, 80, 24)
		c := f.start("xterm", address)
		f.waitText("conn[17]") // whose limit is near
		f.press("q")
		ended(t, c)
		f.waitRestored()
		f.wait("the colour", func(e *emulator) bool { return e.coloured == want })
	}
}

// TestTerminalPanic checks that a panic finds the terminal as it was, on whichever
// goroutine it is.
func TestTerminalPanic(t *testing.T) {
	for name, panics := range map[string]func(f *fakeTerminal){
		"drawing": func(f *fakeTerminal) {
			o, err := parseArgs([]string{"1"})
			if err != nil {
				t.Fatal(err)
			}
			interact(context.Background(), o, newSource(o.url), &reading{}, f.tty, f.tty) // has no figures
		},
		"goroutine": func(f *fakeTerminal) {
			s, err := openScreen(f.tty, f.tty)
			if err != nil {
				t.Fatal(err)
			}
			s.guard(func() { panic("mistake") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeTerminal(t, 80, 24)
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				panics(f)
			}()
			f.waitRestored()
		})
	}
}

// TestTerminalPlain checks what stays off the alternate screen.
func TestTerminalPlain(t *testing.T) {
	address := serve(t, servePage(t))
	for name, tc := range map[string]struct {
		terminal string
		args     []string
		status   int
		want     string
	}{
		"once":  {"xterm", []string{"-once", address}, 0, "tree of contexts, sorted by bytes"},
		"dumb":  {"dumb", []string{address}, 0, "tree of contexts, sorted by bytes"},
		"error": {"xterm", []string{"localhost:0"}, 2, "port 0 is not from 1 to 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeTerminal(t, 80, 24)
			if status := ended(t, f.start(tc.terminal, tc.args...)); status != tc.status {
				t.Errorf("exit status %d, want %d", status, tc.status)
			}
			f.wait(tc.want, func(e *emulator) bool { return e.before == "" && strings.Contains(e.text(), tc.want) })
		})
	}
}
