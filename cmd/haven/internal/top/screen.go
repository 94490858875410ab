package top

import (
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// What switches a terminal over and back: the alternate screen, on which nothing
// scrolls away what was there before; no cursor; and no line that goes on in the
// next one, so that a character that is wider than we think spoils its line only.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// A screen is a terminal that is taken over.
type screen struct {
	out   *os.File
	leave func() error
}

// openScreen takes the terminal over. Close must be called, whatever happens.
func openScreen(in, out *os.File) (*screen, error) {
	restoreOutput, err := enableSequences(out)
	if err != nil {
		return nil, err
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		restoreOutput()
		return nil, err
	}
	s := &screen{out: out}
	s.leave = sync.OnceValue(func() error {
		_, err := io.WriteString(out, leaveScreen)
		if back := term.Restore(int(in.Fd()), before); err == nil {
			err = back
		}
		restoreOutput()
		return err
	})
	if _, err := io.WriteString(out, enterScreen); err != nil {
		s.leave()
		return nil, err
	}
	return s, nil
}

// Close gives the terminal back as it was. Only the first call does something.
func (s *screen) Close() error { return s.leave() }

// guard calls f, on a goroutine other than the one that defers Close. If f panics
// the terminal is given back, so that what the runtime prints then can be read.
func (s *screen) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			s.Close()
			panic(p)
		}
	}()
	f()
}

// size returns the size of the terminal as it is now.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// show puts lines on the screen, in one write. Each line of the screen is erased
// before it is written: behind a line that is full the cursor stays on the last
// character, and erasing would take that.
func (s *screen) show(text string) error {
	_, err := io.WriteString(s.out, "\x1b[H\x1b[K"+strings.ReplaceAll(text, "\n", "\r\n\x1b[K"))
	return err
}

// terminals returns the files of a terminal that can be taken over. There is none
// if input or output is something else, or if it knows no sequences.
func terminals(stdin io.Reader, stdout io.Writer) (in, out *os.File, ok bool) {
	in, isFile := stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, nil, false
	}
	out, isFile = stdout.(*os.File)
	if !isFile || !term.IsTerminal(int(out.Fd())) {
		return nil, nil, false
	}
	return in, out, true
}

// widthOf returns the width of the terminal behind w, 0 if there is none.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
