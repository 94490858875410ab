package arena_test

import (
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// work uses lanes of several kinds, some with several chunks at first, and returns what
// can be compared.
func work(a *arena.Arena, n int) (first *node, text string) {
	first = arena.NewFrom(a, node{key: n})
	for i := range n {
		arena.New[node](a).key = i
		arena.MakeSlice[int](a, 3, 5)[2] = i
		*arena.New[uint16](a) = 1
	}
	return first, arena.String(a, "text of a request")
}

// What was released in mode Never stays what it was, and what is handed out is zero.
func TestNeverReuses(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	p := arena.NewPool(arena.Config{Reuse: arena.Never})
	var nodes []*node
	var texts []string
	for i := range 20 {
		a := p.Get()
		n, s := work(a, 100+i)
		nodes, texts = append(nodes, n), append(texts, s)
		if i%3 == 0 { // within a request it is no other
			a.Reset()
			if n.key != 100+i {
				t.Fatal("a Reset took memory back")
			}
			work(a, 7)
		}
		if i%3 == 1 {
			l := arena.LaneOf[node](a)
			l.Reset()
			if *l.New() != (node{}) || n.key != 100+i {
				t.Fatal("a Lane's Reset took memory back")
			}
		}
		p.Put(a)
		if s := checkPool(t, p); s.Reserved != 0 {
			t.Fatalf("%v, want no memory in idle arenas", s)
		}
	}
	for i, n := range nodes {
		if n.key != 100+i || texts[i] != "text of a request" {
			t.Errorf("request %d: %+v, %q", i, n, texts[i])
		}
	}
}

// A warm shell takes one chunk for each type, of the size that it needs.
func TestNeverAllocs(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	p := arena.NewPool(arena.Config{Reuse: arena.Never})
	if n := testing.AllocsPerRun(100, func() {
		a := p.Get()
		work(a, 200)
		p.Put(a)
	}); n != 4 {
		t.Errorf("%v allocs for 4 types", n)
	}
	a := p.Get()
	arena.New[node](a)
	a.Reset()
	work(a, 200)
	s := a.Stats()
	if s.Chunks != 4 || s.Idle > s.InUse/2 {
		t.Errorf("%v, want chunks of the size that was needed", s)
	}
	a = p.Get()
	for range 3 {
		arena.New[int64](a)
		a.Reset()
	}
	arena.New[int64](a)
	if s := a.Stats(); s.Reserved > 64 {
		t.Errorf("%v for one word", s)
	}
}

// An arena that was not used, or is put with nothing in it, is no trial; one that comes
// from elsewhere is as any of the pool's.
func TestEarnCounts(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	p := arena.NewPool(arena.Config{Reuse: arena.Earn, Trials: 3})
	state := func(want string) {
		t.Helper()
		if s := checkPool(t, p); s.Reuse.String() != want || !strings.HasSuffix(s.String(), ", "+want) || s.Reserved != 0 {
			t.Fatalf("%v, want %s", s, want)
		}
	}
	state("trial 0/3")
	p.Put(p.Get())
	state("trial 0/3")
	a := p.Get()
	work(a, 10)
	a.Reset() // takes back as much as Put
	state("trial 1/3")
	p.Put(a)
	state("trial 1/3")
	b := arena.NewArena()
	work(b, 10)
	b.Reset()
	p.Put(b) // with memory that was used before
	state("trial 1/3")
	for p.Get() != b {
	}
	if s := b.Stats(); s.Reserved != 0 {
		t.Errorf("%v, want the memory of before gone", s)
	}
	work(b, 10)
	arena.LaneOf[node](b).Reset()
	state("trial 2/3")
	p.Put(b)
	state("waiting for collections")
	testkit.Eventually(t, "reuse", func() bool { return p.Stats().Reuse.Earned })
	c := p.Get()
	n, _ := work(c, 10)
	p.Put(c)
	if n.key != 0 || checkPool(t, p).Reserved == 0 {
		t.Error("memory is not used again")
	}
}

// An arena by itself earns for itself.
func TestEarnWithoutPool(t *testing.T) {
	testkit.NeedsReuse(t)
	a := arena.NewArena(arena.Config{Reuse: arena.Earn, Trials: 2})
	for range 2 {
		work(a, 10)
		a.Reset()
		if s := a.Stats(); s.Reserved != 0 {
			t.Fatalf("%v, want nothing kept", s)
		}
	}
	testkit.Eventually(t, "reuse", func() bool {
		work(a, 10)
		a.Reset()
		return a.Stats().Reserved > 0
	})
}

func TestReuseRange(t *testing.T) {
	panicsWith(t, "arena: Config.Reuse is Mode(3): want Always, Earn or Never", func() { arena.NewPool(arena.Config{Reuse: 3}) })
	panicsWith(t, "arena: Config.Reuse is Mode(9): want Always, Earn or Never", func() { arena.NewArena(arena.Config{Reuse: 9}) })
	panicsWith(t, "arena: Config.Trials is -1: want a number of Resets, 0 (the default) or more", func() { arena.NewPool(arena.Config{Reuse: arena.Earn, Trials: -1}) })
}
