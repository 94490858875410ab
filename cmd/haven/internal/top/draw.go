package top

import (
	"fmt"
	"strings"
)

// Room that the frame keeps for other things than rows.
const (
	fullHeight = 12 // lines of a screen from which on all of the head is shown
	lastWidth  = 30 // cells for the names at the least, before columns go
	maxIndent  = 32 // levels
)

// draw returns the screen: height lines of at most width cells, styles aside,
// without a line break at the end.
func draw(s *state, width, height int) string {
	c := canvas{width: width, height: height, colour: s.colour}
	if s.help {
		c.help()
		return c.text()
	}
	t := s.table()
	c.head(s)
	rows := tableRows(s, height)
	from := clampOffset(s.offset, rows, len(t.rows))
	to := min(from+rows, len(t.rows))
	c.table(t, from, to, s.view.empty)
	c.foot(s, from, to, len(t.rows))
	return c.text()
}

// tableRows returns how many rows of a table a screen of that height has room for.
func tableRows(s *state, height int) int {
	rows := height - headLines(height) - 2 // the headings and the foot
	if s.most > 0 {
		rows = min(rows, s.most)
	}
	return max(rows, 0)
}

func headLines(height int) int {
	if height < fullHeight {
		return 1
	}
	return 4
}

// page returns a reading as plain text, which ends in a line break. Width 0 is as
// wide as it needs.
func page(s *state, width int) string {
	c := canvas{width: width, plain: true}
	t := s.table()
	c.head(s)
	to := len(t.rows)
	if s.most > 0 {
		to = min(to, s.most)
	}
	c.table(t, 0, to, s.view.empty)
	if more := len(t.rows) - to; more > 0 {
		c.line(none, "… "+plural(more, "more row"))
	}
	return c.text() + "\n"
}

// A style is how a line looks.
type style string

const (
	none    style = ""
	bold    style = "\x1b[1m"
	reverse style = "\x1b[7m"
	dim     style = "\x1b[2m"
	red     style = "\x1b[31m"
	yellow  style = "\x1b[33m"
	reset         = "\x1b[0m"
)

// A canvas collects lines.
type canvas struct {
	width, height int // 0 on a plain page: no end
	plain         bool
	colour        bool
	lines         []string
}

func (c *canvas) text() string {
	if !c.plain {
		c.fill(c.height)
		c.lines = c.lines[:max(c.height, 0)]
	}
	return strings.Join(c.lines, "\n")
}

// fill adds empty lines until there are n.
func (c *canvas) fill(n int) {
	for len(c.lines) < n {
		c.lines = append(c.lines, "")
	}
}

// line adds a line, cut to the width. Blanks at its end are left out unless the
// style shows them.
func (c *canvas) line(st style, text string) {
	if !c.endless() && cells(text) > c.width {
		text = cutEnd(text, max(c.width-1, 0)) + cutEnd("…", c.width)
	}
	if st == reverse && !c.plain {
		text = padRight(text, c.width)
	} else {
		text = strings.TrimRight(text, " ")
	}
	if !c.colour && (st == red || st == yellow) {
		st = bold
	}
	if !c.plain && st != none && text != "" {
		text = string(st) + text + reset
	}
	c.lines = append(c.lines, text)
}

// head draws whose memory it is, the sums, and what is wrong.
func (c *canvas) head(s *state) {
	r := s.last.stats
	p := &r.Process
	mapped := "mapped " + formatBytes(p.Mapped)
	if p.MemoryLimit > 0 {
		mapped += " of limit " + formatBytes(p.MemoryLimit)
	}
	title := c.parts("haven top", s.target, quoted(p.Program), r.Time.Format("15:04:05"),
		fmt.Sprintf("pid %d", p.PID), "up "+formatAge(p.Uptime), printable(p.Go))
	leaks := "none"
	if r.Totals.Leaks > 0 {
		leaks = formatCount(r.Totals.Leaks)
	}
	sums := c.parts(
		"leaks "+leaks,
		fmt.Sprintf("contexts %d, %s + %s warm", r.Totals.Contexts, formatBytes(r.Totals.ContextBytes), formatBytes(r.Totals.WarmBytes)),
		"caches "+formatBytes(r.Totals.CacheBytes),
		"idle in pools "+formatBytes(r.Totals.IdleBytes))
	process := c.parts(
		fmt.Sprintf("heap %s, goal %s", formatBytes(p.Heap), formatBytes(p.HeapGoal)),
		fmt.Sprintf("GC CPU %s, %d cycles", formatFraction(p.GCCPU), p.GCCycles),
		mapped, fmt.Sprintf("goroutines %d", p.Goroutines), fmt.Sprintf("procs %d", p.Procs))

	say, st := fmt.Sprintf("%s, sorted by %s", s.view.title, s.sort()), none
	switch {
	case s.fail != "":
		say, st = fmt.Sprintf("%s old: %s", formatAge(s.now.Sub(s.last.at)), s.fail), red
	case s.late:
		say, st = fmt.Sprintf("%s old: the program has not answered yet", formatAge(s.now.Sub(s.last.at))), red
	case s.message != "":
		say, st = s.message, bold
	case s.paused:
		say, st = say+"   paused: space goes on", bold
	}
	if !c.plain && headLines(c.height) == 1 {
		if st == none {
			say = sums
		}
		c.line(st, say)
		return
	}
	c.line(bold, title)
	c.line(none, sums)
	c.line(none, process)
	c.line(st, say)
}

// parts joins as many of its arguments as there is room for, the first at the
// least.
func (c *canvas) parts(list ...string) string {
	text := list[0]
	for _, part := range list[1:] {
		longer := text + "  " + part
		if !c.endless() && cells(longer) > c.width {
			break
		}
		text = longer
	}
	return text
}

// endless reports whether lines may be as long as they like.
func (c *canvas) endless() bool { return c.plain && c.width == 0 }

// table draws the headings and rows from from up to to.
func (c *canvas) table(t table, from, to int, empty string) {
	widths := make([]int, len(t.columns)) // 0: not shown
	last := cells(t.last)
	for i, h := range t.columns {
		widths[i] = max(cells(h.title), 5)
	}
	for _, r := range t.rows {
		for i, cell := range r.cells {
			widths[i] = max(widths[i], cells(cell))
		}
		last = max(last, cells(r.name)+cells(r.note)+2*min(r.indent, maxIndent))
	}
	room := c.room(t, widths, last)

	c.line(reverse, line(t.columns, widths, func(i int) string { return t.columns[i].title })+t.last)
	if len(t.rows) == 0 {
		c.line(none, empty)
	}
	for _, r := range t.rows[from:to] {
		st := map[mark]style{near: yellow, faint: dim}[r.mark]
		text := line(t.columns, widths, func(i int) string {
			if r.cells == nil {
				return ""
			}
			return r.cells[i]
		})
		name := r.name
		indent := 2 * min(r.indent, maxIndent)
		if room >= 0 {
			indent = min(indent, room/2)
			name = fit(name, room-indent-cells(r.note))
		}
		c.line(st, text+strings.Repeat(" ", indent)+name+r.note)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// line returns the cells of a line and the gap behind them.
func line(columns []heading, widths []int, cell func(i int) string) string {
	var b strings.Builder
	for i, w := range widths {
		switch {
		case w == 0:
			continue
		case columns[i].left:
			b.WriteString(padRight(cell(i), w))
		default:
			b.WriteString(padLeft(cell(i), w))
		}
		b.WriteString("  ")
	}
	return b.String()
}

// room lets columns go, by setting their width to 0, until the names have what
// they need, and returns how many cells they have. Without an end of the line it
// is -1.
func (c *canvas) room(t table, widths []int, last int) int {
	if c.endless() {
		return -1
	}
	room := c.width
	for _, w := range widths {
		room -= w + 2
	}
	// A third of the screen at the least, but no more than the longest name.
	want := min(last, max(lastWidth, c.width/3))
	for room < want {
		worst := -1
		for i, h := range t.columns {
			if widths[i] > 0 && h.rank > 0 && (worst < 0 || h.rank >= t.columns[worst].rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		room += widths[worst] + 2
		widths[worst] = 0
	}
	return max(room, 0)
}

// foot draws which rows these are and the keys, on the last line.
func (c *canvas) foot(s *state, from, to, all int) {
	c.fill(c.height - 1)
	var names, letters []string
	for _, v := range views {
		names = append(names, fmt.Sprintf("%c %s", v.key, v.name))
		letters = append(letters, string(v.key))
	}
	rows := fmt.Sprintf("%-14s", fmt.Sprintf("%d-%d of %d", min(from+1, to), to, all))
	text := strings.Join(append([]string{rows, "? help", "q quit", "<> sort"}, names...), "  ")
	if cells(text) > c.width {
		text = c.parts(rows, "? help", "q quit", "<> sort", strings.Join(letters, " ")+" views")
	}
	c.line(reverse, text)
}

// help draws what the keys do.
func (c *canvas) help() {
	c.line(bold, "haven top: keys")
	c.line(none, "")
	for _, v := range views {
		c.line(none, fmt.Sprintf("  %c        %-18s by %s", v.key, v.title, strings.Join(v.sorts, ", ")))
	}
	for _, text := range []string{
		"",
		"  ← → Tab  the view before, the next one",
		"  b k a n  sort by bytes, chunks, age, name",
		"  < >      sort by the key before, by the next one",
		"  ↑ ↓ PgUp PgDn Home End   scroll",
		"  space    stop and go on reading",
		"  ?        this list",
		"  q Ctrl-C quit",
		"",
		"Any key goes back.",
	} {
		c.line(none, text)
	}
}
