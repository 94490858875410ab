//go:build unix

package top

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An emulator is a terminal with as much of a mind as the command needs. What it
// does not know it takes down as an error, so that nothing else is sent.
type emulator struct {
	width, height int
	cells         [][]rune // 0: the second half of a wide character
	row, column   int
	alternate     bool // the alternate screen is shown
	hidden        bool // the cursor
	wrap          bool
	coloured      bool   // something was
	before        string // what was on the ordinary screen
	rest          string // a sequence that is not complete
	err           error
}

func newEmulator(width, height int) *emulator {
	e := &emulator{width: width, height: height, wrap: true}
	e.clear()
	return e
}

func (e *emulator) clear() {
	e.cells = make([][]rune, e.height)
	for i := range e.cells {
		e.cells[i] = []rune(strings.Repeat(" ", e.width))
	}
}

// resize does what terminals do: what is shown is lost until it is drawn again.
func (e *emulator) resize(width, height int) {
	e.width, e.height, e.row, e.column = width, height, 0, 0
	e.clear()
}

// text returns what the screen shows, without blanks at the ends of lines.
func (e *emulator) text() string {
	var b strings.Builder
	for _, line := range e.cells {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ") + "\n")
	}
	return b.String()
}

func (e *emulator) Write(p []byte) (int, error) {
	s := e.rest + string(p)
	for s != "" && e.err == nil {
		n := e.step(s)
		if n == 0 {
			break
		}
		s = s[n:]
	}
	e.rest = s
	return len(p), e.err
}

// step obeys the start of s and returns its length, 0 if it is not complete.
func (e *emulator) step(s string) int {
	switch {
	case s[0] == '\r':
		e.column = 0
		return 1
	case s[0] == '\n':
		if e.row++; e.row == e.height {
			e.row--
			e.cells = append(e.cells[1:], []rune(strings.Repeat(" ", e.width)))
		}
		return 1
	case s[0] == 0x1b:
		if len(s) > 1 && s[1] != '[' {
			e.err = fmt.Errorf("sequence %.10q", s)
			return 0
		}
		end := strings.IndexFunc(s[min(2, len(s)):], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return 0
		}
		e.obey(s[2 : end+3])
		return end + 3
	case !utf8.FullRuneInString(s):
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if r < 0x20 || r == utf8.RuneError {
		e.err = fmt.Errorf("character %.10q", s)
		return 0
	}
	e.put(r)
	return n
}

func (e *emulator) put(r rune) {
	w := runeCells(r)
	if w == 0 {
		return
	}
	if e.wrap && e.alternate {
		e.err = errors.New("lines may go on in the next one")
	}
	e.column = min(e.column, e.width-w)
	e.cells[e.row][e.column] = r
	if w == 2 {
		e.cells[e.row][e.column+1] = 0
	}
	// The cursor stays on the last character of a line that is full.
	e.column = min(e.column+w, e.width-1)
}

func (e *emulator) obey(sequence string) {
	switch sequence {
	case "?1049h":
		e.before, e.alternate = e.text(), true
		e.clear()
	case "?1049l":
		e.alternate = false
	case "?25l", "?25h":
		e.hidden = sequence == "?25l"
	case "?7l", "?7h":
		e.wrap = sequence == "?7h"
	case "H":
		e.row, e.column = 0, 0
	case "K":
		for i := e.column; i < e.width; i++ {
			e.cells[e.row][i] = ' '
		}
	case "0m", "1m", "2m", "7m":
	case "31m", "33m":
		e.coloured = true
	default:
		e.err = fmt.Errorf("sequence %q", sequence)
	}
}
