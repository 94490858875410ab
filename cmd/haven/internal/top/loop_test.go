package top

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A fakeWorld is a loop on a clock, a terminal and a program that do what a test
// says: it sends one event and waits for what comes of it.
type fakeWorld struct {
	t       *testing.T
	loop    *loop
	now     time.Time
	size    [2]int
	keys    chan []key
	tick    chan time.Time
	look    chan time.Time
	asked   chan struct{} // a request was made
	answers chan answer   // what it gets
	screens chan string
	done    chan error
}

func newFakeWorld(t *testing.T) *fakeWorld {
	w := &fakeWorld{
		t: t, now: noon, size: [2]int{80, 24},
		keys: make(chan []key), tick: make(chan time.Time), look: make(chan time.Time),
		asked: make(chan struct{}), answers: make(chan answer), screens: make(chan string), done: make(chan error, 1),
	}
	w.loop = &loop{
		state: fixedState(t), keys: w.keys, tick: w.tick, look: w.look,
		read: func(ctx context.Context) (*reading, error) {
			w.asked <- struct{}{}
			select {
			case a := <-w.answers:
				return a.reading, a.err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		// Time and size are set when the loop waits for an event.
		now:   func() time.Time { return w.now },
		size:  func() (int, int) { return w.size[0], w.size[1] },
		show:  func(s string) error { w.screens <- s; return nil },
		guard: func(f func()) { f() },
	}
	return w
}

// start runs the loop and returns the first screen.
func (w *fakeWorld) start() string {
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	go func() { w.done <- w.loop.run(ctx) }()
	return get(w.t, w.screens)
}

// get receives within a time that only a loop that hangs exceeds.
func get[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("the loop hangs")
		panic("unreachable")
	}
}

func put[T any](t *testing.T, c chan<- T, v T) {
	t.Helper()
	select {
	case c <- v:
	case <-time.After(20 * time.Second):
		t.Fatal("the loop hangs")
	}
}

func (w *fakeWorld) press(k ...key) string {
	w.t.Helper()
	put(w.t, w.keys, k)
	return get(w.t, w.screens)
}

// reading returns one of a process of that number.
func (w *fakeWorld) reading(pid int) answer {
	r := fixedReading(w.t)
	r.stats.Process.PID = pid
	r.at = w.now
	return answer{reading: r}
}

func (w *fakeWorld) wantPart(screen, part string) {
	w.t.Helper()
	if !strings.Contains(screen, part) {
		w.t.Errorf("no %q on the screen:\n%s", part, screen)
	}
}

// quiet checks that the latest event has drawn nothing: the loop takes another
// one, no key, after which it draws.
func (w *fakeWorld) quiet() {
	w.t.Helper()
	select {
	case s := <-w.screens:
		w.t.Errorf("drawn for nothing:\n%s", s)
	case w.keys <- nil:
		get(w.t, w.screens)
	case <-time.After(20 * time.Second):
		w.t.Fatal("the loop hangs")
	}
}

func TestLoopReads(t *testing.T) {
	w := newFakeWorld(t)
	w.wantPart(w.start(), "pid 4711")
	put(t, w.tick, noon)
	get(t, w.asked)
	w.now = noon.Add(time.Second)
	put(t, w.tick, noon) // the request is still under way: there is no second one
	put(t, w.look, noon)
	w.quiet()
	if !w.loop.asked.Equal(noon) {
		t.Errorf("a request at %v while there was one", w.loop.asked)
	}
	put(t, w.answers, w.reading(1))
	w.wantPart(get(t, w.screens), "pid 1 ")
	put(t, w.tick, noon)
	get(t, w.asked)
	put(t, w.answers, w.reading(2))
	w.wantPart(get(t, w.screens), "pid 2 ")
	put(t, w.keys, []key{'c', 'q'})
	if err := get(t, w.done); err != nil {
		t.Error(err)
	}
}

func TestLoopOutage(t *testing.T) {
	w := newFakeWorld(t)
	w.start()
	put(t, w.tick, noon)
	get(t, w.asked)
	w.now = noon.Add(1900 * time.Millisecond)
	put(t, w.look, noon)
	w.quiet()
	w.now = noon.Add(2100 * time.Millisecond)
	put(t, w.look, noon)
	w.wantPart(get(t, w.screens), "2.1s old: the program has not answered yet")
	w.now = noon.Add(5 * time.Second)
	put(t, w.answers, answer{err: errors.New("refused\x1b[2J")})
	screen := get(t, w.screens)
	w.wantPart(screen, `5.0s old: refused\x1b[2J`)
	w.wantPart(screen, "pid 4711")
	w.now = noon.Add(65 * time.Second)
	put(t, w.look, noon)
	w.wantPart(get(t, w.screens), "1m05s old: refused")
	put(t, w.look, noon) // now it is as old as before
	w.quiet()
	put(t, w.tick, noon)
	get(t, w.asked)
	put(t, w.answers, w.reading(3))
	screen = get(t, w.screens)
	w.wantPart(screen, "pid 3 ")
	w.wantPart(screen, "tree of contexts, sorted by bytes")
}

func TestLoopPause(t *testing.T) {
	w := newFakeWorld(t)
	w.start()
	put(t, w.tick, noon)
	get(t, w.asked)
	w.wantPart(w.press(' '), "paused: space goes on")
	put(t, w.answers, w.reading(1)) // what was under way
	w.wantPart(get(t, w.screens), "pid 4711")
	put(t, w.tick, noon) // nobody asks now
	w.quiet()
	w.wantPart(w.press('n'), "sorted by name")
	put(t, w.keys, []key{' '})
	get(t, w.asked) // at once, without waiting for the tick
	w.wantPart(get(t, w.screens), "tree of contexts, sorted by name")
	put(t, w.answers, w.reading(2))
	w.wantPart(get(t, w.screens), "pid 2 ")
	w.press(' ')
	put(t, w.tick, noon)
	w.quiet()
	put(t, w.keys, []key{'q'})
	get(t, w.done)
	if w.loop.asking {
		t.Error("a request while paused")
	}
}

func TestLoopResize(t *testing.T) {
	w := newFakeWorld(t)
	w.start()
	put(t, w.look, noon)
	w.quiet()
	w.size = [2]int{200, 60}
	put(t, w.look, noon)
	screen := get(t, w.screens)
	w.wantPart(screen, "RESERVED")
	if n := strings.Count(screen, "\n"); n != 59 {
		t.Errorf("%d lines", n+1)
	}
	// A page is as high as the screen is now: 2 rows of 10.
	w.size = [2]int{80, 5}
	w.wantPart(w.press(keyEnd), "9-10 of 10")
	w.wantPart(w.press(keyPageUp), "8-9 of 10")
}

func TestLoopEnds(t *testing.T) {
	end := map[string]func(w *fakeWorld, cancel func()){
		"end of input": func(w *fakeWorld, _ func()) { close(w.keys) },
		"signal":       func(w *fakeWorld, cancel func()) { cancel() },
		"signal during a request": func(w *fakeWorld, cancel func()) {
			put(w.t, w.tick, noon)
			get(w.t, w.asked)
			cancel()
		},
	}
	for name, end := range end {
		t.Run(name, func(t *testing.T) {
			w := newFakeWorld(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { w.done <- w.loop.run(ctx) }()
			get(t, w.screens)
			end(w, cancel)
			if err := get(t, w.done); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	w := newFakeWorld(t)
	broken := errors.New("broken terminal")
	w.loop.show = func(string) error { return broken }
	if err := w.loop.run(context.Background()); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
}
