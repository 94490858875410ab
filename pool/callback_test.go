package pool_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// leave ends a call in one of the ways that are not a return.
var leave = map[string]func(){
	"panic":  func() { panic("gave up") },
	"Goexit": runtime.Goexit,
}

// run calls f on a goroutine of its own and waits for its end.
func run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
	}()
	<-done
}

// A function that does not return costs the one object at hand, and no lock is
// held.
func TestCallbacksDoNotReturn(t *testing.T) {
	noGC(t)
	for how, away := range leave {
		for _, where := range []string{"newFn", "Reset", "Cost"} {
			t.Run(where+" "+how, func(t *testing.T) {
				bad := ""
				hit := func(name string) {
					if bad == name {
						away()
					}
				}
				p := pool.New(func() *object { hit("newFn"); return new(object) },
					pool.Config[object]{
						Reset: func(*object) { hit("Reset") },
						Cost:  func(*object) int { hit("Cost"); return 1 },
					})
				var out []*object
				for range 200 {
					out = append(out, p.Get())
				}
				for _, x := range out[:100] {
					p.Put(x)
				}
				before := checkStats(t, p.Stats())

				bad = where
				const n = 3
				for i := range n {
					run(func() {
						for where == "newFn" { // the idle ones first
							p.Budget().Settle()
							p.Get()
						}
						p.Put(out[100+i])
					})
				}
				bad = ""
				if !p.Budget().Unlocked() {
					t.Fatal("the lock is held")
				}
				s := checkStats(t, p.Stats())
				if where == "newFn" {
					if s.Misses != before.Misses || s.Idle != 0 || s.InUse != 200 || s.Hits != before.Hits+100 {
						t.Errorf("%+v", s)
					}
				} else if where == "Reset" && (s.DroppedPanic != 0 || s.Idle != before.Idle || s.InUse != before.InUse) ||
					where == "Cost" && (s.DroppedPanic != n || s.Idle != before.Idle || s.InUse != before.InUse-n) {
					t.Errorf("%+v, before: %+v", s, before)
				}
				for _, x := range out[100+n:] {
					p.Put(x)
				}
				for x, n := range drain(t, p) {
					if n != 1 || x == out[100] {
						t.Errorf("%p is there %d times", x, n)
					}
				}
			})
		}
	}
}

// The panic goes on to the caller.
func TestCallbackPanics(t *testing.T) {
	p := pool.New(func() *object { panic("no memory") }, pool.Config[object]{Name: "p"})
	testkit.PanicText(t, "no memory", func() { p.Get() })
	q := pool.New(nil, pool.Config[object]{Reset: func(*object) { panic("still open") }})
	testkit.PanicText(t, "still open", func() { q.Put(new(object)) })
	var nothing func() *object = func() *object { return nil }
	p = pool.New(nothing, pool.Config[object]{Name: "p"})
	testkit.PanicText(t, `pool: newFn of Pool "p" returned a nil *pool_test.object`, func() { p.Get() })
	if s := checkStats(t, p.Stats()); s.Misses != 0 || s.InUse != 0 {
		t.Errorf("%+v", s)
	}
	p = pool.New(nil, pool.Config[object]{Name: "p", Cost: func(*object) int { return -5 }})
	testkit.PanicText(t, `pool: Cost of Pool "p" is -5 bytes for a *pool_test.object: want 0 or more`, func() { p.Put(new(object)) })
	if s := checkStats(t, p.Stats()); s.DroppedPanic != 1 || s.Idle != 0 {
		t.Errorf("%+v", s)
	}
}

// Callbacks may use the pool.
func TestCallbacksUseThePool(t *testing.T) {
	var p *pool.Pool[object]
	depth := 0
	inner := func() {
		if depth++; depth < 5 {
			p.Put(p.Get())
			p.Stats()
			p.Trim()
		}
		depth--
	}
	p = pool.New(func() *object { inner(); return new(object) },
		pool.Config[object]{
			Reset: func(*object) { inner() },
			Cost:  func(*object) int { inner(); return 1 },
		})
	for range 3 {
		p.Put(p.Get())
	}
	checkStats(t, p.Stats())
}

// Reset comes before Cost, each once for a Put.
func TestResetThenCost(t *testing.T) {
	var log strings.Builder
	p := pool.New[object](nil,
		pool.Config[object]{
			Cost:  func(x *object) int { log.WriteString("c"); return len(x.data) },
			Reset: func(x *object) { log.WriteString("r"); x.data = x.data[:0] },
		})
	for range 3 {
		x := p.Get()
		x.data = make([]byte, 100)
		p.Put(x)
	}
	if log.String() != "rcrcrc" {
		t.Errorf("called: %s", log.String())
	}
	if s := checkStats(t, p.Stats()); s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}
