package top

import (
	"context"
	"io"
	"time"
)

// lateAfter is how long a request may take before the screen says so.
const lateAfter = 2 * time.Second

// A loop keeps the screen up to date. It is all that happens between the first
// reading and the end; what it needs of the world are its fields.
type loop struct {
	state *state
	read  func(context.Context) (*reading, error)
	size  func() (width, height int)
	show  func(string) error
	keys  <-chan []key     // closed at the end of the input
	tick  <-chan time.Time // time for a reading
	look  <-chan time.Time // time to see whether the size has changed
	now   func() time.Time
	guard func(func()) // calls a function; gives the terminal back if it panics

	answers chan answer
	asking  bool      // there is a request under way
	asked   time.Time // since when
	drawn   drawing
}

type answer struct {
	*reading
	err error
}

// A drawing is what the screen depends on and may change without an event: the
// size, and the age of what is shown.
type drawing struct {
	width, height int
	late          bool
	age           int64 // tenths of a second, 0 while the program answers
}

// run returns when the user quits, the input ends or ctx does.
func (l *loop) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.answers = make(chan answer, 1)
	if err := l.draw(); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case keys, ok := <-l.keys:
			if !ok {
				return nil
			}
			for _, k := range keys {
				switch l.press(k) {
				case quit:
					return nil
				case refresh:
					l.ask(ctx)
				}
			}
		case <-l.tick:
			if !l.state.paused {
				l.ask(ctx)
			}
			continue
		case a := <-l.answers:
			l.asking = false
			l.take(a)
		case <-l.look:
			if l.measure() == l.drawn {
				continue
			}
		}
		if err := l.draw(); err != nil {
			return err
		}
	}
}

// ask starts a request unless there is one under way.
func (l *loop) ask(ctx context.Context) {
	if l.asking {
		return
	}
	l.asking, l.asked = true, l.now()
	go l.guard(func() {
		r, err := l.read(ctx)
		l.answers <- answer{r, err}
	})
}

// take notes what became of a request. One that was under way when the user
// stopped the screen changes nothing on it.
func (l *loop) take(a answer) {
	switch {
	case l.state.paused:
	case a.err != nil:
		l.state.fail = printable(a.err.Error())
	default:
		l.state.last, l.state.fail = a.reading, ""
	}
}

func (l *loop) press(k key) action {
	_, height := l.size()
	return l.state.press(k, tableRows(l.state, height), len(l.state.table().rows))
}

func (l *loop) measure() drawing {
	d := drawing{}
	d.width, d.height = l.size()
	now := l.now()
	d.late = l.asking && now.Sub(l.asked) >= lateAfter
	if d.late || l.state.fail != "" {
		d.age = int64(now.Sub(l.state.last.at) / (100 * time.Millisecond))
	}
	return d
}

func (l *loop) draw() error {
	l.drawn = l.measure()
	l.state.now, l.state.late = l.now(), l.drawn.late
	return l.show(draw(l.state, l.drawn.width, l.drawn.height))
}

// readKeys sends the keys that come from a terminal, until its end or ctx's. A
// read that waits for a key cannot be broken off: the goroutine may stay as long
// as the process.
func readKeys(ctx context.Context, in io.Reader, keys chan<- []key) {
	defer close(keys)
	var d keyDecoder
	buf := make([]byte, 256)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			select {
			case keys <- d.decode(buf[:n]):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}
