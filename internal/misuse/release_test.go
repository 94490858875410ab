package misuse_test

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
)

// Mistakes with what is released, to whom, and by whom.
var releases = []*scenario{
	{name: "an object released twice", only: func(m *memory, _ typ) bool { return m.single }, make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		t.misuse()
		t.m.release(nil, o)
	}},
	{name: "an object released twice, others in between", only: func(m *memory, _ typ) bool { return m.single }, make: func(t *trial) {
		others := []object{t.m.alloc(nil), t.m.alloc(nil)}
		o := t.m.alloc(t)
		t.m.release(nil, others[0])
		t.m.release(t, o)
		t.m.release(nil, others[1])
		t.misuse()
		t.m.release(nil, o)
	}},
	(&scenario{name: foreign, only: func(m *memory, _ typ) bool { return m.single }, make: func(t *trial) {
		other := t.kind.make()
		t.undo = append(t.undo, func() { runtime.KeepAlive(other) })
		o := other.alloc(t)
		t.m.alloc(nil)
		t.misuse()
		t.m.release(nil, o)
	}}).or(),
	heapIn(heapPointer, func(_ *trial, h *head) { h.next = new(head) }).or(),
	heapIn("a heap string stored where the collector does not look", func(_ *trial, h *head) { h.text = strings.Clone(longText) }),
	heapIn("a heap value in an interface stored where the collector does not look", func(_ *trial, h *head) { h.any = new(head) }),
	heapIn("a heap pointer stored in what was allocated before a collection", func(t *trial, h *head) {
		testkit.CollectGarbage()
		t.m.alloc(nil)
		h.next = new(head)
	}),
	{name: "used by two goroutines in turns, unsynchronised", only: oneByOne, make: func(t *trial) {
		t.m.alloc(nil)
		s := newTurns()
		t.misuse()
		s.other(1, func() { t.m.alloc(nil) }, 2)
		s.turn(1)
		s.await(2)
		t.m.alloc(nil)
		s.join()
	}},
	{name: atOnce, only: func(m *memory, y typ) bool { return oneByOne(m, y) && y.size() == 24 }, make: func(t *trial) {
		t.m.alloc(nil)
		t.misuse()
		t.overlap(func() { t.m.alloc(nil) })
	}},
	{name: releasedAtOnce, only: func(m *memory, y typ) bool { return oneByOne(m, y) && y.size() == 24 }, make: func(t *trial) {
		t.misuse()
		t.overlap(func() { t.m.release(nil, t.m.alloc(nil)) })
	}},
}

var longText = "a text that is long enough to be worth a look"

// heapIn is the mistake of letting untyped memory have the only pointer to something.
func heapIn(name string, store func(t *trial, h *head)) *scenario {
	return &scenario{name: name, only: func(m *memory, y typ) bool { return m.untyped && y.links }, make: func(t *trial) {
		h := t.m.alloc(t).head()
		t.misuse()
		store(t, h)
	}}
}

func oneByOne(m *memory, _ typ) bool { return !m.shared }

// These are left to chance: what happens to be wrong afterwards is no report. So they are
// for the check build, which looks for them; the race detector sees the turns.
const (
	atOnce         = "used by two goroutines at once"
	releasedAtOnce = "used and released by two goroutines at once"
)

func (s *scenario) chance() bool { return s.name == atOnce || s.name == releasedAtOnce }

var overlapped atomic.Bool

// overlap calls use in two goroutines until that is reported, or so long that it would
// have been. That is the end of the process: there is no telling what it left.
func (t *trial) overlap(use func()) {
	if !check.Enabled {
		say("alone")
		return
	}
	for range 2 {
		go func() {
			for {
				func() {
					defer func() { _ = recover() }()
					use()
				}()
			}
		}()
	}
	for end := time.Now().Add(time.Second / 2); !overlapped.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	os.Exit(1)
}
