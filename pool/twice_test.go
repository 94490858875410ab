package pool_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// twice is the panic for a double Put of x into a pool.
func twice[T any](title string, x *T) string {
	return fmt.Sprintf("pool: %s: object %#x (%T) was Put twice", title, uintptr(unsafe.Pointer(x)), x)
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// checkTwice checks a pool after x was put twice and that was noticed: it is
// usable, and has x once.
func checkTwice(t *testing.T, p *pool.Pool[object], x *object) {
	t.Helper()
	if !p.Budget().Unlocked() {
		t.Fatal("the lock is held")
	}
	if s := checkStats(t, p.Stats()); s.DroppedTwice != 1 {
		t.Errorf("%+v, want one object put twice", s)
	}
	for y, n := range drain(t, p) {
		if n != 1 {
			t.Errorf("object %p is there %d times", y, n)
		}
		if y == x {
			x = nil
		}
	}
	if x != nil {
		t.Error("the object that was put twice is lost")
	}
	p.Put(p.Get())
	checkStats(t, p.Stats())
}

var twiceKinds = map[string]pool.Config[object]{
	"plain":      {},
	"costed":     {Cost: func(*object) int { return 3 }, MaxBytes: 1 << 20},
	"with Reset": {Reset: func(*object) {}},
	"one by one": {Max: 3},
}

// Both copies of an object in one magazine, or one of them in the depot already:
// the Put that brings the magazine there panics.
func TestPutTwiceFoundAtFlush(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what is in the magazines of another P stays there
	for name, conf := range twiceKinds {
		for _, between := range []int{0, 5, 2 * pool.Rounds, 500} {
			conf.Name = "p"
			p := pool.New[object](nil, conf)
			x := new(object)
			var got any
			puts := 0
			put := func(x *object) {
				puts++
				if v := panicOf(func() { p.Put(x) }); v != nil {
					if got != nil {
						t.Errorf("a second panic: %v", v)
					}
					got = v
				}
			}
			put(x)
			for range between {
				put(new(object))
			}
			put(x)
			for got == nil && puts < 10_000 {
				put(new(object))
			}
			if want := twice(`Pool "p"`, x); got != want {
				t.Errorf("%s, %d objects between: %v after %d puts, want %s", name, between, got, puts, want)
				continue
			}
			if most := (4*pool.Pairs() + 2) * pool.Rounds; puts > between+most {
				t.Errorf("%s: noticed after %d puts", name, puts)
			}
			checkTwice(t, p, x)
		}
	}
}

// Trim brings everything to the depot, and so finds every double Put. Where a
// step of trimming finds one, or a Get, the next to put is told.
func TestPutTwiceFoundElsewhere(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	for name, conf := range twiceKinds {
		if name == "one by one" {
			continue // found at once
		}
		fresh := func() (*pool.Pool[object], *object) {
			conf.Floor = 100
			p := pool.New[object](nil, conf)
			x := new(object)
			p.Put(x)
			p.Put(new(object))
			p.Put(x)
			return p, x
		}
		p, x := fresh()
		want := twice("a Pool without a name", x)
		testkit.PanicText(t, want, func() { p.Trim() })
		checkTwice(t, p, x)

		p, x = fresh()
		for range 4 {
			p.Budget().AfterGC(false)
		}
		if s := checkStats(t, p.Stats()); s.Depot != 2 || s.DroppedTwice != 1 {
			t.Fatalf("%s: %+v", name, s)
		}
		y := new(object)
		testkit.PanicText(t, twice("a Pool without a name", x), func() { p.Put(y) })
		checkTwice(t, p, x)
	}
}

// Two pools may have the same object, and an object may come back as often as it
// is got.
func TestPutTwiceIsNoMistake(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	p, q := new(pool.Pool[object]), new(pool.Pool[object])
	x := new(object)
	p.Put(x)
	q.Put(x)
	p.Trim()
	q.Trim()
	for range 1000 {
		p.Put(p.Get())
	}
	p.Trim()
	if s := checkStats(t, p.Stats()); s.DroppedTwice != 0 {
		t.Errorf("%+v", s)
	}
}

// The set of addresses agrees with a map.
func TestSeen(t *testing.T) {
	for _, spread := range []uintptr{1, 8, 64, 4096, 1 << 20} {
		rng := rand.New(rand.NewPCG(1, uint64(spread)))
		var s pool.IdleSet
		model := map[uintptr]bool{}
		var in []uintptr
		for i := range 60_000 {
			p := uintptr(rng.IntN(2000)+1) * spread
			if i%20_000 < 10_000 || len(in) == 0 { // grows, and shrinks
				p += uintptr(i%20_000) / 10 * spread
			}
			if model[p] || rng.IntN(2) == 0 {
				if s.Add(p) == model[p] {
					t.Fatalf("Add(%#x): %v", p, model[p])
				}
				if !model[p] {
					in = append(in, p)
				}
				model[p] = true
			} else if len(in) > 0 {
				k := rng.IntN(len(in))
				s.Remove(in[k])
				delete(model, in[k])
				in[k] = in[len(in)-1]
				in = in[:len(in)-1]
			}
			if i%5000 == 0 {
				s.Fit()
				if s.Slots() > max(64, 6*s.Len()) {
					t.Fatalf("%d slots for %d addresses after Fit", s.Slots(), s.Len())
				}
			}
			if s.Len() != len(model) || 4*s.Len() > 3*s.Slots() {
				t.Fatalf("%d addresses in %d slots, want %d", s.Len(), s.Slots(), len(model))
			}
		}
		for _, p := range in {
			if s.Add(p) {
				t.Fatalf("%#x is lost", p)
			}
			s.Remove(p)
			if !s.Add(p) {
				t.Fatalf("%#x is still there", p)
			}
			s.Remove(p)
		}
		s.Fit()
		if s.Slots() != 0 {
			t.Errorf("%d slots for nothing", s.Slots())
		}
	}
}
