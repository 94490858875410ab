package bench

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// A progress tells the user what is going on: on a terminal by one line that
// is written over, elsewhere by a line for each case that is done.
type progress struct {
	w     io.Writer
	width int // of the terminal; 0 when w is not one
	now   func() time.Time

	start    time.Time
	last     time.Time // of the latest redraw
	name     string
	from, to float64 // share of the run before and after the case
}

// redrawEvery bounds how often the line is written, which is also time taken
// from a machine that is being measured.
const redrawEvery = 200 * time.Millisecond

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now}
	p.width = terminalWidth(w)
	p.start = p.now()
	return p
}

// terminalWidth returns the number of columns of the terminal behind w, 0 when
// it is not one.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// begin starts a case that takes the run from one share of it to another.
func (p *progress) begin(name string, from, to float64) {
	p.name, p.from, p.to = name, from, to
	p.last = time.Time{}
	p.step("", 0)
}

// step tells what the case is doing, and how much of it is done.
func (p *progress) step(what string, done float64) {
	if p.width == 0 {
		return
	}
	now := p.now()
	if now.Sub(p.last) < redrawEvery {
		return
	}
	p.last = now
	elapsed := now.Sub(p.start).Round(time.Second)
	line := fmt.Sprintf("%3.0f%%  %d:%02d  %s  %s", 100*(p.from+(p.to-p.from)*done),
		int(elapsed.Minutes()), int(elapsed.Seconds())%60, p.name, what)
	if runes := []rune(line); len(runes) >= p.width {
		line = string(runes[:p.width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", strings.TrimRight(line, " "))
}

// end tells that a case is done, or was broken off.
func (p *progress) end(c *CaseResult, took time.Duration) {
	if p.width > 0 {
		return
	}
	fmt.Fprintf(p.w, "%s: %s, %s, %.1f s\n", c.Name(),
		plural(int64(len(c.Variants)), "variant"), plural(int64(c.maxRounds()), "round"), took.Seconds())
}

// clear removes the line from the terminal.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
