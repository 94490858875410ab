package misuse_test

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/check"
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
	(&scenario{name: heapPointer, only: func(m *memory, y typ) bool { return m.untyped && y.links }, make: func(t *trial) {
		o := t.m.alloc(t)
		t.misuse()
		o.head().next = new(head)
	}}).or(),
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
		if check.Enabled {
			overlap(func() { t.m.alloc(nil) })
		} else {
			say("alone")
		}
	}},
}

func oneByOne(m *memory, _ typ) bool { return !m.shared }

// atOnce is left to chance: what happens to be wrong afterwards is no report. So it is
// for the check build, which looks for it; the race detector sees the turns.
const atOnce = "used by two goroutines at once"

var overlapped atomic.Bool

// overlap calls use in two goroutines until that is reported, or so long that it would
// have been. That is the end of the process: there is no telling what it left.
func overlap(use func()) {
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
