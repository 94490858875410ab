package pool_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/pool"
)

// A clock has the timers of a pool.
type clock struct {
	mu    sync.Mutex
	armed []func()
	pause time.Duration
}

func (c *clock) after(d time.Duration, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause = d
	c.armed = append(c.armed, f)
}

// tick has the timer fire and reports whether one was armed.
func (c *clock) tick(t testing.TB) bool {
	t.Helper()
	c.mu.Lock()
	armed := c.armed
	c.armed = nil
	c.mu.Unlock()
	if len(armed) > 1 {
		t.Fatalf("%d timers at a time", len(armed))
	}
	for _, f := range armed {
		f()
	}
	return len(armed) == 1
}

// With Idle a timer trims, for as long as there is something to trim.
func TestIdle(t *testing.T) {
	noGC(t)
	for _, c := range []struct {
		conf pool.Config[object]
		want []int // after each tick, until the timer is at rest
	}{
		// The first tick finds traffic, the second retires and takes in what the
		// Ps have, which goes from the third on. Here all of it is in magazines.
		{pool.Config[object]{}, []int{40, 40, 20, 10, 5, 2, 1, 0}},
		{pool.Config[object]{Floor: 10}, []int{40, 40, 20, 10}},
		{pool.Config[object]{Floor: 40}, []int{40, 40}},
		{pool.Config[object]{Cost: func(*object) int { return 1 }}, []int{40, 40, 20, 10, 5, 2, 1, 0}},
	} {
		var clock clock
		c.conf.Idle = 3 * time.Second
		p := pool.New[object](nil, c.conf)
		p.Budget().SetClock(clock.after)
		if clock.tick(t) {
			t.Fatal("a pool that nobody used has a timer")
		}
		for round := range 2 { // it is armed again by the next use
			for range max(1, 40-p.Stats().Idle) {
				p.Put(new(object))
			}
			if clock.pause != 3*time.Second/2 {
				t.Fatalf("timer armed for %v", clock.pause)
			}
			var got []int
			for clock.tick(t) {
				got = append(got, checkStats(t, p.Stats()).Idle)
				if len(got) > 100 {
					t.Fatal("the timer is never at rest")
				}
			}
			last := len(c.want) - 1
			if round == 0 && !slices.Equal(got, c.want) || len(got) == 0 || got[len(got)-1] != c.want[last] {
				t.Errorf("round %d: idle after each tick: %v, want %v", round, got, c.want)
			}
		}
	}
}

// While the pool is used the timer goes on, and nothing that is used goes.
func TestIdleInUse(t *testing.T) {
	noGC(t)
	var clock clock
	p := pool.New(nil, pool.Config[object]{Idle: time.Second})
	p.Budget().SetClock(clock.after)
	for range 40 {
		p.Put(new(object))
	}
	for range 50 {
		p.Put(p.Get())
		if !clock.tick(t) {
			t.Fatal("no timer")
		}
	}
	if s := checkStats(t, p.Stats()); s.Idle < 40 || s.Trimmed != 0 {
		t.Errorf("%+v", s)
	}
}

// The shortest pause is a millisecond, and the real timer works.
func TestIdleForReal(t *testing.T) {
	var clock clock
	p := pool.New(nil, pool.Config[object]{Idle: 1})
	p.Budget().SetClock(clock.after)
	p.Put(new(object))
	if clock.pause != time.Millisecond {
		t.Errorf("timer armed for %v", clock.pause)
	}
	q := pool.New(nil, pool.Config[object]{Idle: 1, Floor: 3})
	for range 1000 {
		q.Put(new(object))
	}
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		s := checkStats(t, q.Stats())
		if s.Idle == 3 {
			break
		}
		if s.Idle < 3 || time.Now().After(end) {
			t.Fatalf("after a minute: %+v", s)
		}
	}
}
