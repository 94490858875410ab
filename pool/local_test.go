package pool_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// A Local is a stack with a bound.
func TestLocal(t *testing.T) {
	made := 0
	for bound, l := range map[int]*pool.Local[object]{
		pool.LocalMax: new(pool.Local[object]),
		1:             pool.NewLocal(nil, pool.LocalConfig[object]{Max: 1}),
		5:             pool.NewLocal(func() *object { made++; return new(object) }, pool.LocalConfig[object]{Max: 5}),
	} {
		var stack, out []*object
		high := 0
		for i := range 10_000 {
			if i%300 < 150 && i%7 != 0 || len(out) == 0 {
				x := l.Get()
				if n := len(stack); n > 0 {
					if x != stack[n-1] {
						t.Fatalf("bound %d: not the object that was put last", bound)
					}
					stack = stack[:n-1]
				} else if x.id != 0 {
					t.Fatal("an object that was dropped came back")
				}
				x.id = i + 1
				out = append(out, x)
			} else {
				x := out[0]
				out = out[1:]
				l.Put(x)
				if len(stack) < bound {
					stack = append(stack, x)
				}
			}
			high = max(high, len(out))
			s := checkStats(t, l.Stats())
			if s.Idle != len(stack) || s.InUse != len(out) || s.HighWater != high || s.Max != bound {
				t.Fatalf("%+v, want %d idle, %d in use, high water %d, a bound of %d", s, len(stack), len(out), high, bound)
			}
		}
		if s := l.Stats(); bound == 5 && (made == 0 || s.Misses != uint64(made) || s.DroppedFull == 0) {
			t.Errorf("%d made: %+v", made, s)
		}
	}
}

// Reset runs at Put, before the object is kept or dropped.
func TestLocalReset(t *testing.T) {
	testkit.NeedsReuse(t)
	l := pool.NewLocal(nil, pool.LocalConfig[object]{Reset: func(x *object) { x.id = -1 }, Max: 2})
	xs := []*object{{id: 1}, {id: 2}, {id: 3}}
	for _, x := range xs {
		l.Put(x)
		if x.id != -1 {
			t.Errorf("not reset: %+v", x)
		}
	}
	if a, b := l.Get(), l.Get(); a != xs[1] || b != xs[0] {
		t.Error("wrong objects")
	}
}

// What was handed out is not kept alive.
func TestLocalForgets(t *testing.T) {
	var l pool.Local[object]
	var c testkit.Census
	func() {
		for range 50 {
			l.Put(testkit.Enroll(&c, new(object)))
		}
		for range 50 {
			l.Get()
		}
	}()
	testkit.CollectGarbage()
	if n := c.Alive(); n != 0 {
		t.Errorf("%d objects are alive", n)
	}
	runtime.KeepAlive(&l)
}

func TestLocalPutTwice(t *testing.T) {
	testkit.NeedsReuse(t)
	want := func(x *object) string {
		return fmt.Sprintf(`pool: Local "l": object %p (*pool_test.object) was Put twice`, x)
	}
	for _, conf := range []pool.LocalConfig[object]{{}, {Reset: func(*object) {}}} {
		conf.Name = "l"
		conf.Max = 3
		l := pool.NewLocal[object](nil, conf)
		x := l.Get()
		l.Put(x)
		testkit.PanicText(t, want(x), func() { l.Put(x) })
		l.Put(new(object))
		l.Put(new(object))
		testkit.PanicText(t, want(x), func() { l.Put(x) }) // it is full
		if s := checkStats(t, l.Stats()); s.Idle != 3 || s.DroppedTwice != 2 {
			t.Errorf("%+v", s)
		}
		seen := map[*object]bool{}
		for range 3 {
			seen[l.Get()] = true
		}
		if len(seen) != 3 || !seen[x] {
			t.Errorf("%d objects come back", len(seen))
		}
	}
}

// A Put that finds room on the stack goes a shorter way, and notices the same.
func TestLocalPutRoom(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, conf := range []pool.LocalConfig[object]{{}, {Reset: func(x *object) { x.id = -1 }}} {
		conf.Name, conf.Max = "l", 4
		l := pool.NewLocal[object](nil, conf)
		for round := range 3 {
			out := []*object{l.Get(), l.Get(), l.Get(), l.Get(), l.Get()}
			for i, x := range out {
				x.id = i + 1
				l.Put(x)
				if want := i + 1; conf.Reset == nil && x.id != want || conf.Reset != nil && x.id != -1 {
					t.Errorf("round %d: object %d has %d after Put", round, i, x.id)
				}
				if i < 4 {
					testkit.PanicText(t, fmt.Sprintf(`pool: Local "l": object %p (*pool_test.object) was Put twice`, x), func() { l.Put(x) })
				}
			}
			testkit.PanicText(t, `pool: Put of a nil *pool_test.object into Local "l"`, func() { l.Put(nil) })
			if s := checkStats(t, l.Stats()); s.Idle != 4 || s.DroppedFull != uint64(round+1) {
				t.Errorf("round %d: %+v", round, s)
			}
		}
	}
}

// Functions that do not return cost the object at hand.
func TestLocalCallbacks(t *testing.T) {
	for how, away := range leave {
		bad := false
		l := pool.NewLocal(func() *object {
			if bad {
				away()
			}
			return new(object)
		}, pool.LocalConfig[object]{Reset: func(*object) {
			if bad {
				away()
			}
		}})
		x, y := l.Get(), l.Get()
		bad = true
		run(func() { l.Put(x) })
		run(func() { l.Get() })
		bad = false
		l.Put(y)
		if s := checkStats(t, l.Stats()); s.DroppedPanic != 1 || s.Idle != 1 || s.Misses != 2 || s.InUse != 0 {
			t.Errorf("%s: %+v", how, s)
		}
		if l.Get() != y {
			t.Errorf("%s: another object", how)
		}
	}
	var l *pool.Local[object]
	l = pool.NewLocal(func() *object { // that uses the Local itself
		a, b := new(object), new(object)
		l.Put(a)
		l.Put(b)
		return new(object)
	})
	l.Get()
	if s := checkStats(t, l.Stats()); s.Idle != 2 || s.Misses != 1 {
		t.Errorf("%+v", s)
	}
}

func TestLocalSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	var l pool.Local[object]
	var out [50]*object
	work := func() {
		for i := range out {
			out[i] = l.Get()
		}
		for _, x := range out {
			l.Put(x)
		}
	}
	work()
	if n := testing.AllocsPerRun(100, work); n != 0 {
		t.Errorf("%v allocs/op, want 0", n)
	}
}
