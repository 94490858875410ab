package arena_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// scaled returns n, or a twentieth of it in short tests.
func scaled(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// Heap pointers in every kind of arena memory keep what they point to: with a
// collector that runs all the time and overwrites what it frees, a pointer it
// did not see is a pointer into rubbish.
func TestHeapPointersSurvive(t *testing.T) {
	if testkit.InChild(t) {
		defer testkit.Hammer()()
		for round := range scaled(40) {
			for _, w := range writers() {
				w.check(t, w.write(round))
				w.end()
			}
		}
		return
	}
	testkit.MustChild(t, "GODEBUG=clobberfree=1", "GOGC=1")
}

// held is a heap object that is reachable through an arena only.
type held struct {
	next *held
	text string
	n    int
}

// newHeld makes a heap object worth i, with another behind it.
func newHeld(i int) *held {
	return &held{next: &held{n: i + 1}, text: strconv.Itoa(i), n: i}
}

func (h *held) ok(i int) bool {
	return h != nil && h.n == i && h.text == strconv.Itoa(i) && h.next.n == i+1
}

// pair has a pointer that is not the first word.
type pair struct {
	id  int
	ptr *held
	box any
	m   map[string]*held
	f   func() *held
	c   chan *held
}

func newPair(i int) pair {
	h := newHeld(i)
	c := make(chan *held, 1)
	c <- newHeld(i)
	return pair{i, newHeld(i), newHeld(i), map[string]*held{"k": newHeld(i)}, func() *held { return h }, c}
}

func (p *pair) ok() bool {
	h := <-p.c
	p.c <- h
	return p.ptr.ok(p.id) && p.box.(*held).ok(p.id) && p.m["k"].ok(p.id) && p.f().ok(p.id) && h.ok(p.id)
}

// A writer stores heap pointers in one kind of arena memory.
type writer struct {
	name  string
	write func(round int) []*pair // pointers into the arena
	end   func()
}

func (w writer) check(t *testing.T, ps []*pair) {
	for i, p := range ps {
		if !p.ok() {
			t.Fatalf("%s: value %d of %d is lost: %+v", w.name, i, len(ps), *p)
		}
	}
}

var (
	keptArena = arena.NewArena(arena.Config{Name: "reused"})
	keptScope = arena.NewArena(arena.Config{Name: "scopes"})
	keptPool  arena.Pool
	keptLane  arena.Lane[pair]
)

// writers returns one writer for each way to get memory.
func writers() []writer {
	const n = 150
	fill := func(next func() *pair) (ps []*pair) {
		for i := range n {
			p := next()
			if p.ptr != nil || p.m != nil {
				panic("not zero")
			}
			*p = newPair(i)
			ps = append(ps, p)
		}
		return ps
	}
	fresh := func(f func(a *arena.Arena) []*pair) func(int) []*pair {
		return func(int) []*pair { return f(arena.NewArena()) }
	}
	none := func() {}
	pooled := keptPool.Get()
	mark := keptScope.Mark()
	return []writer{
		{"New", fresh(func(a *arena.Arena) []*pair { return fill(func() *pair { return arena.New[pair](a) }) }), none},
		{"Lane", fresh(func(a *arena.Arena) []*pair { return fill(arena.LaneOf[pair](a).New) }), none},
		{"Lane alone, reused", func(int) []*pair { return fill(keptLane.New) }, keptLane.Reset},
		{"NewOf", fresh(func(a *arena.Arena) []*pair {
			return fill(func() *pair { return arena.NewOf(a, reflect.TypeFor[pair]()).Interface().(*pair) })
		}), none},
		{"MakeSlice", fresh(func(a *arena.Arena) []*pair {
			return fill(func() *pair { return &arena.MakeSlice[pair](a, 2, 3)[1] })
		}), none},
		{"Append", fresh(func(a *arena.Arena) (ps []*pair) {
			var s []pair
			for i := range n {
				s = arena.Append(a, s, newPair(i))
				arena.New[*pair](a)
			}
			for i := range s {
				ps = append(ps, &s[i])
			}
			return ps
		}), none},
		{"interior pointers after Free", fresh(func(a *arena.Arena) []*pair {
			ps := fill(func() *pair { return arena.New[pair](a) })
			a.Free()
			return ps
		}), none},
		{"after Reset", func(int) []*pair {
			return fill(func() *pair { return arena.New[pair](keptArena) })
		}, keptArena.Reset},
		{"after Release", func(int) []*pair {
			return fill(func() *pair { return arena.New[pair](keptScope) })
		}, func() { keptScope.Release(mark) }},
		{"Pool", func(int) []*pair {
			return fill(func() *pair { return arena.New[pair](pooled) })
		}, func() { keptPool.Put(pooled) }},
		{"nil arena", func(int) []*pair { return fill(func() *pair { return arena.New[pair](nil) }) }, none},
	}
}

// A String is bytes: with rubbish written over dead memory it must not change.
func TestStringsSurvive(t *testing.T) {
	if testkit.InChild(t) {
		defer testkit.Hammer()()
		for range scaled(100) {
			var ss []string
			func() {
				a := arena.NewArena()
				for i := range 300 {
					ss = append(ss, arena.String(a, fmt.Sprint("text number ", i)))
				}
			}()
			for i, s := range ss {
				if s != fmt.Sprint("text number ", i) {
					t.Fatalf("string %d is %q", i, s)
				}
			}
		}
		return
	}
	testkit.MustChild(t, "GODEBUG=clobberfree=1", "GOGC=1")
}

// What arena values pointed to goes when they end, whatever way they end, and
// lives as long as they do.
func TestNothingStaysReachable(t *testing.T) {
	typ := reflect.TypeFor[pair]()
	// A quarter of the values goes into slices, one into NewOf, the rest into
	// objects, with gaps, chunks of their own and several chunks of each kind.
	enroll := func(c *testkit.Census, a *arena.Arena) {
		for i := range 600 {
			h := testkit.Enroll(c, newHeld(i))
			switch {
			case i == 300:
				big := arena.MakeSlice[pair](a, 700, 900)
				big[0].ptr, big[699].ptr, big[:900][899].ptr = h, h, h
			case i%4 == 0:
				s := arena.MakeSlice[pair](a, i%7+1, i%7+3)
				s[i%7].ptr = h
			case i%4 == 1:
				arena.NewOf(a, typ).Interface().(*pair).box = h
			case i%4 == 2:
				arena.Append(a, arena.MakeSlice[*held](a, 1, 1), h)
			default:
				arena.New[pair](a).m = map[string]*held{"k": h}
			}
		}
	}
	onOneP(t)
	var pool arena.Pool
	for _, c := range []struct {
		name string
		a    *arena.Arena
		end  func(a *arena.Arena)
	}{
		{"Reset", arena.NewArena(), (*arena.Arena).Reset},
		{"Free", arena.NewArena(), (*arena.Arena).Free},
		{"Put", pool.Get(), pool.Put},
		{"small chunks", arena.NewArena(arena.Config{FirstChunk: 1, MaxChunk: 1}), (*arena.Arena).Reset},
		{"retain nothing", arena.NewArena(arena.Config{Retain: -1}), (*arena.Arena).Reset},
	} {
		t.Run(c.name, func(t *testing.T) {
			for round := range 4 { // from the second on with one chunk of a kind
				if round > 0 && c.name == "Free" {
					break
				}
				if c.name == "Put" && round > 0 {
					pool.Get()
				}
				var census testkit.Census
				enroll(&census, c.a)
				testkit.CollectGarbage()
				if n := census.Alive(); n != census.Len() {
					t.Fatalf("round %d: %d of %d objects died while in use", round, census.Len()-n, census.Len())
				}
				c.end(c.a)
				testkit.CollectGarbage()
				if n := census.Alive(); n != 0 {
					t.Errorf("round %d: %d of %d objects outlived %s", round, n, census.Len(), c.name)
				}
				runtime.KeepAlive(c.a)
			}
		})
	}
	t.Run("Release", func(t *testing.T) {
		a := arena.NewArena()
		for round := range 4 {
			var outer, inner testkit.Census
			enroll(&outer, a)
			for range 3 {
				m := a.Mark()
				enroll(&inner, a)
				a.Release(m)
			}
			testkit.CollectGarbage()
			if n, m := outer.Alive(), inner.Alive(); n != outer.Len() || m != 0 {
				t.Errorf("round %d: %d of %d objects from before the Mark live, and %d from behind it", round, n, outer.Len(), m)
			}
			a.Reset()
			testkit.CollectGarbage()
			if n := outer.Alive(); n != 0 {
				t.Errorf("round %d: %d objects outlived Reset", round, n)
			}
		}
		runtime.KeepAlive(a)
	})
	t.Run("Release of a slice with a chunk of its own", func(t *testing.T) {
		a := arena.NewArena()
		arena.New[*held](a)
		var c testkit.Census
		m := a.Mark()
		for i := range 5 {
			arena.MakeSlice[*held](a, 5000<<i, 5000<<i)[4999] = testkit.Enroll(&c, newHeld(i))
		}
		a.Release(m)
		testkit.CollectGarbage()
		if n := c.Alive(); n != 0 {
			t.Errorf("%d objects outlived Release", n)
		}
		runtime.KeepAlive(a)
	})
	t.Run("Lane", func(t *testing.T) {
		var l arena.Lane[pair]
		for round := range 4 {
			var c testkit.Census
			for i := range 400 {
				l.New().ptr = testkit.Enroll(&c, newHeld(i))
				l.MakeSlice(1, 3)[0].box = testkit.Enroll(&c, newHeld(i))
			}
			l.Reset()
			testkit.CollectGarbage()
			if n := c.Alive(); n != 0 {
				t.Errorf("round %d: %d objects outlived Lane.Reset", round, n)
			}
		}
		runtime.KeepAlive(&l)
	})
	t.Run("callbacks", func(t *testing.T) {
		a := arena.NewArena()
		var c testkit.Census
		for i := range 20 {
			h := testkit.Enroll(&c, newHeld(i))
			a.OnReset(func() { h.n++ })
		}
		a.Reset()
		testkit.CollectGarbage()
		if n := c.Alive(); n != 0 {
			t.Errorf("%d objects of callbacks outlived Reset", n)
		}
		runtime.KeepAlive(a)
	})
}

// One pointer into an arena keeps its chunk, and not the arena or other chunks.
func TestInteriorPointerKeepsItsChunk(t *testing.T) {
	for name, free := range map[string]bool{"after Free": true, "dropped": false} {
		t.Run(name, func(t *testing.T) {
			var arenas, near, far testkit.Census
			kept := func() *int {
				a := testkit.Enroll(&arenas, arena.NewArena())
				p := arena.New[pair](a)
				p.id = 77
				p.ptr = testkit.Enroll(&near, newHeld(1))
				arena.New[*held](a) // another lane
				*arena.New[*held](a) = testkit.Enroll(&far, newHeld(2))
				if free {
					a.Free()
				}
				return &p.id
			}()
			testkit.CollectGarbage()
			if *kept != 77 || near.Alive() != 1 {
				t.Error("the value died although a pointer into it was kept")
			}
			if arenas.Alive() != 0 || far.Alive() != 0 {
				t.Errorf("%d arena and %d objects of another lane are kept", arenas.Alive(), far.Alive())
			}
			runtime.KeepAlive(kept)
			testkit.CollectGarbage()
			if near.Alive() != 0 {
				t.Error("the value outlived its last pointer")
			}
		})
	}
}

// Arenas that are dropped are collected, all they hold included: 10,000 of them
// within two collections.
func TestDroppedArenasAreCollected(t *testing.T) {
	const n = 10000
	var arenas, values testkit.Census
	typ := reflect.TypeFor[node]()
	for i := range n {
		a := testkit.Enroll(&arenas, arena.NewArena(arena.Config{Name: "dropped"}))
		p := arena.New[pair](a)
		p.ptr = testkit.Enroll(&values, newHeld(i))
		p.box, p.f = a, func() *held { return p.ptr } // cycles
		arena.LaneOf[*arena.Arena](a).NewFrom(a)
		arena.NewOf(a, typ)
		switch i % 4 {
		case 0:
			a.Reset()
		case 1:
			a.Mark()
			a.OnReset(func() { a.Trim(0) })
		case 2:
			a.Free()
		}
	}
	runtime.GC()
	runtime.GC()
	if alive := arenas.Alive(); alive > n/100 {
		t.Errorf("%d of %d dropped arenas are alive after two collections", alive, n)
	}
	if alive := values.Alive(); alive > n/100 {
		t.Errorf("%d of %d of their values are", alive, n)
	}
}

// A million arenas, made, used and dropped, leave the heap as it was.
func TestMillionArenas(t *testing.T) {
	n := 1000000
	if testing.Short() {
		n = 50000
	}
	use := func(n int) {
		for i := range n {
			a := arena.NewArena()
			arena.New[node](a).key = i
			if i%2 == 0 {
				arena.MakeSlice[int](a, 3, 3)
			}
			if i%8 == 0 {
				a.Free()
			}
		}
	}
	use(1000)
	before := testkit.HeapInUse()
	use(n)
	if after := testkit.HeapInUse(); after > before+1<<20 {
		t.Errorf("%d bytes live before, %d after %d arenas", before, after, n)
	}
}
