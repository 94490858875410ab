package top

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A state is what the screen shows: the latest reading and what the user chose.
type state struct {
	target string // whose memory it is, for the title
	most   int    // rows of a table; 0: what fits
	colour bool

	view    *view
	sorts   map[*view]string // keys that were chosen; others have their default
	offset  int              // rows scrolled away
	paused  bool
	help    bool
	message string // about the latest key

	last *reading
	fail string    // why there is no newer reading; "": there is
	late bool      // a request waits for its answer
	now  time.Time // when it is drawn
}

func newState(o options) *state {
	return &state{
		target: printable(target(o.url)), most: o.rows,
		view: o.view, sorts: map[*view]string{o.view: o.sort},
	}
}

func (s *state) sort() string {
	if name, ok := s.sorts[s.view]; ok {
		return name
	}
	return s.view.sorts[0]
}

// table returns the rows of the view.
func (s *state) table() table { return s.view.table(s.last.stats, s.sort()) }

// What became of a key.
type action int

const (
	redraw action = iota
	quit
	refresh // ask for a reading now
)

// press changes the state as a key says. rows is how many rows the table shows at
// a time, and all how many it has.
func (s *state) press(k key, rows, all int) action {
	s.message = ""
	if k == 'q' || k == keyInterrupt {
		return quit
	}
	if s.help { // any key puts it away
		s.help = false
		return redraw
	}
	for _, v := range views {
		if v.key == k {
			s.show(v)
			return redraw
		}
	}
	page := max(rows-1, 1)
	switch k {
	case '?':
		s.help = true
	case ' ':
		s.paused = !s.paused
		if !s.paused {
			return refresh
		}
	case 'b':
		s.sortBy("bytes")
	case 'k':
		s.sortBy("chunks")
	case 'a':
		s.sortBy("age")
	case 'n':
		s.sortBy("name")
	case '<':
		s.step(-1)
	case '>':
		s.step(+1)
	case keyTab, keyRight:
		s.show(neighbour(views, s.view, +1))
	case keyLeft:
		s.show(neighbour(views, s.view, -1))
	case keyUp:
		s.offset--
	case keyDown:
		s.offset++
	case keyPageUp:
		s.offset -= page
	case keyPageDown:
		s.offset += page
	case keyHome:
		s.offset = 0
	case keyEnd:
		s.offset = all
	}
	s.offset = clampOffset(s.offset, rows, all)
	return redraw
}

// clampOffset returns the offset nearest to that at which the last row is not
// above the end of the screen.
func clampOffset(offset, rows, all int) int { return max(min(offset, all-rows), 0) }

func (s *state) show(v *view) {
	if v != s.view {
		s.view, s.offset = v, 0
	}
}

func (s *state) sortBy(name string) {
	if !slices.Contains(s.view.sorts, name) {
		s.message = fmt.Sprintf("%s: not sorted by %s, but by %s", s.view.title, name, strings.Join(s.view.sorts, ", "))
		return
	}
	s.sorts[s.view] = name
	s.offset = 0
}

// step goes to the next of the view's sort keys, or the one before.
func (s *state) step(by int) { s.sortBy(neighbour(s.view.sorts, s.sort(), by)) }

// neighbour returns what is by places further in a list that is a ring.
func neighbour[T comparable](list []T, of T, by int) T {
	n := len(list)
	return list[(slices.Index(list, of)+by+n)%n]
}
