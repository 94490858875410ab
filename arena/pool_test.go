package arena_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// checkPool fails the test if the pool's numbers do not add up.
func checkPool(t testing.TB, p *arena.Pool) arena.PoolStats {
	t.Helper()
	s := p.Stats()
	if s.Gets != s.Hits+s.Misses || s.Puts != s.Dropped+s.Trimmed+uint64(s.Idle)+s.Hits {
		t.Fatalf("pool does not add up: %+v", s)
	}
	if s.Idle < 0 || s.Reserved < 0 || s.Idle == 0 && s.Reserved != 0 || s.Idle > arena.MaxIdle {
		t.Fatalf("pool out of range: %+v", s)
	}
	return s
}

// onOneP has one P for the test: an arena that was put is found there by the next Get.
func onOneP(t testing.TB) {
	old := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// globalPool is a zero Pool that is no object of Go's heap.
var globalPool arena.Pool

func TestPoolZero(t *testing.T) {
	onOneP(t)
	for _, p := range []*arena.Pool{&globalPool, new(arena.Pool), arena.NewPool(), {}} {
		before := p.Stats() // the global one is used again with -count
		a := p.Get()
		arena.New[int](a)
		p.Put(a)
		testkit.CollectGarbage()
		if b := p.Get(); b != a {
			t.Error("Get did not return the warm arena")
		}
		s := checkPool(t, p)
		if s.Gets-before.Gets != 2 || s.Hits-before.Hits != 1 || s.Misses-before.Misses != 1 || s.Puts-before.Puts != 1 || s.Idle != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestPoolNil(t *testing.T) {
	var p *arena.Pool
	a := p.Get()
	if a != nil {
		t.Error("a nil Pool returned an arena")
	}
	*arena.New[int](a) = 1
	p.Put(a)
	b := arena.NewArena()
	p.Put(b) // is not put anywhere
	*arena.New[int](b) = 1
	new(arena.Pool).Put(nil)
	if s := p.Stats(); s != (arena.PoolStats{}) {
		t.Errorf("%+v", s)
	}
}

func TestPoolOptions(t *testing.T) {
	onOneP(t)
	p := arena.NewPool(arena.Config{Name: "pooled", Limit: 1 << 20, Retain: 1 << 10})
	for range 3 {
		a := p.Get()
		if s := a.Stats(); s.Name != "pooled" || s.Limit != 1<<20 {
			t.Errorf("%+v", s)
		}
		arena.MakeSlice[byte](a, 0, 1<<19)
		p.Put(a)
		if s := checkPool(t, p); s.Reserved > 1<<10 {
			t.Errorf("%d bytes idle, want at most what Retain allows", s.Reserved)
		}
	}
}

// A pool hands out zero memory, and with its chunks.
func TestPoolWarm(t *testing.T) {
	onOneP(t)
	testkit.NeedsReuse(t)
	var p arena.Pool
	a := p.Get()
	first := arena.NewFrom(a, node{key: 1})
	arena.New[node](a)
	p.Put(a)
	reserved := checkPool(t, &p).Reserved
	if reserved == 0 {
		t.Error("no bytes in an idle arena that has a chunk")
	}
	b := p.Get()
	if b != a || checkPool(t, &p).Reserved != 0 {
		t.Error("the warm arena was not handed out")
	}
	if q := arena.New[node](b); *q != (node{}) || q != first {
		t.Error("memory not cleared or not reused")
	}
}

func TestPoolSteady(t *testing.T) {
	onOneP(t)
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	p := arena.NewPool(arena.Config{Name: "steady"})
	request := func() {
		a := p.Get()
		for i := range 80 {
			arena.NewFrom(a, node{key: i})
			arena.New[int](a)
			s := arena.MakeSlice[*node](a, 0, 4)
			arena.Append(a, s, nil, nil, nil, nil, nil)
			arena.String(a, "a string of some length")
		}
		m := a.Mark()
		arena.MakeSlice[node](a, 0, 3000)
		arena.MakeSlice[uint16](a, 0, 3000)
		a.Release(m)
		p.Put(a)
	}
	if n := testing.AllocsPerRun(500, request); n != 0 {
		t.Errorf("%v allocs/op, want 0", n)
	}
	checkPool(t, p)
}

// A double Put, and a Put of a freed arena, panic and leave the pool intact.
func TestPoolMisuse(t *testing.T) {
	onOneP(t)
	p := arena.NewPool(arena.Config{Name: "p"})
	a := p.Get()
	p.Put(a)
	panicsWith(t, `arena: Pool.Put on arena "p" after Put into its Pool`, func() { p.Put(a) })
	a = p.Get()
	a.Free()
	panicsWith(t, `arena: Pool.Put after Free of arena "p"`, func() { p.Put(a) })
	b := p.Get()
	b.OnReset(func() { panic("callback") })
	panicsWith(t, "callback", func() { p.Put(b) })
	if s := checkPool(t, p); s.Puts != 1 || s.Idle != 0 {
		t.Errorf("%+v", s)
	}
}

// No more than MaxIdle arenas stay.
func TestPoolBounded(t *testing.T) {
	var p arena.Pool
	var out []*arena.Arena
	for range arena.MaxIdle + 100 {
		out = append(out, p.Get())
	}
	for _, a := range out {
		arena.New[int](a)
		p.Put(a)
	}
	// A collection that comes between may trim.
	if s := checkPool(t, &p); s.Idle > arena.MaxIdle || s.Dropped+s.Trimmed < 100 {
		t.Errorf("%+v", s)
	}
}

// Idle arenas that nobody asks for go with the garbage collections, down to the
// floor; those in use stay as they are.
func TestPoolTrims(t *testing.T) {
	p := arena.NewPool(arena.Config{FirstChunk: 512})
	var out []*arena.Arena
	for range 200 {
		out = append(out, p.Get())
	}
	var values []*node
	for i, a := range out {
		values = append(values, arena.NewFrom(a, node{key: i + 1}))
	}
	for _, a := range out[:150] {
		p.Put(a)
	}
	floor := runtime.GOMAXPROCS(0)
	testkit.Eventually(t, "pool at its floor", func() bool {
		s := checkPool(t, p)
		if s.Idle < floor {
			t.Fatalf("%d arenas idle, fewer than the floor of %d", s.Idle, floor)
		}
		return s.Idle == floor
	})
	for range 5 {
		testkit.CollectGarbage()
	}
	if s := checkPool(t, p); s.Idle != floor || s.Trimmed != uint64(150-floor) || s.Reserved == 0 {
		t.Errorf("%+v, want %d idle", s, floor)
	}
	for i, a := range out[150:] {
		if v := values[150+i]; v.key != 150+i+1 {
			t.Fatalf("arena in use lost its value: %+v", v)
		}
		arena.New[node](a)
		p.Put(a)
	}
	checkPool(t, p)
}

// Of the arenas that stayed idle since the last collection half go; those that
// were asked for since do not.
func TestPoolTrimsWhatIsIdle(t *testing.T) {
	onOneP(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // only the trims below
	var p arena.Pool
	out := make([]*arena.Arena, 100)
	cycle := func(n int) {
		for i := range n {
			out[i] = p.Get()
		}
		for _, a := range out[:n] {
			p.Put(a)
		}
	}
	idle := func(want int) {
		t.Helper()
		slack := 2 * magazine.StackRounds * magazine.Width() // what Ps have, no trimming of a pool at work reaches
		if s := checkPool(t, &p); s.Idle < want || s.Idle > want+slack {
			t.Fatalf("%d arenas idle, want %d to %d", s.Idle, want, want+slack)
		}
	}
	cycle(100)
	arena.TrimPool(&p) // the pool saw its first arenas: none were idle before
	idle(100)
	for range 5 { // all of them are in use from time to time
		cycle(100)
		arena.TrimPool(&p)
		idle(100)
	}
	cycle(60)
	arena.TrimPool(&p)
	idle(80) // 40 stayed idle
	cycle(60)
	arena.TrimPool(&p)
	idle(70)
	arena.TrimPool(&p)
	idle(35)
	for range 10 {
		arena.TrimPool(&p)
	}
	if s := checkPool(t, &p); s.Idle != runtime.GOMAXPROCS(0) || s.Misses != 100 {
		t.Errorf("%+v", s)
	}
}

// A pool that is dropped goes, and its arenas with it, although collections ran
// while it was alive.
func TestPoolIsCollected(t *testing.T) {
	var pools, arenas testkit.Census
	for range 100 {
		p := testkit.Enroll(&pools, arena.NewPool())
		for range 3 {
			a := testkit.Enroll(&arenas, p.Get())
			arena.New[node](a)
			p.Put(a)
		}
	}
	testkit.CollectGarbage()
	testkit.CollectGarbage()
	if n, m := pools.Alive(), arenas.Alive(); n > 1 || m > 3 {
		t.Errorf("%d pools and %d arenas are alive after all were dropped", n, m)
	}
}

// A pool keeps no arena that it handed out, nor one that it let go.
func TestPoolLetsGo(t *testing.T) {
	var p arena.Pool
	var got, trimmed testkit.Census
	out := make([]*arena.Arena, 100)
	for i := range out {
		out[i] = testkit.Enroll(&trimmed, p.Get())
	}
	for _, a := range out {
		p.Put(a)
	}
	clear(out)
	out = nil
	testkit.Eventually(t, "arenas that were trimmed are collected", func() bool {
		return trimmed.Alive() == runtime.GOMAXPROCS(0)
	})
	for range 3 {
		testkit.Enroll(&got, p.Get())
	}
	testkit.CollectGarbage()
	if n := got.Alive(); n != 0 {
		t.Errorf("%d arenas that Get returned are kept", n)
	}
	runtime.KeepAlive(&p)
}

// Many goroutines share a pool; each arena is one goroutine's at a time.
func TestPoolConcurrent(t *testing.T) {
	p := arena.NewPool(arena.Config{Name: "shared"})
	n := 2000
	if testing.Short() {
		n = 200
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range n {
				a := p.Get()
				v := arena.New[node](a)
				s := arena.MakeSlice[int](a, 10, 10)
				if *v != (node{}) || s[9] != 0 {
					t.Error("memory is not zero")
				}
				v.key, s[9] = g+1, g+1
				if i%100 == 0 {
					runtime.GC()
				}
				if i%50 == 7 {
					p.Stats()
				}
				if v.key != g+1 || s[9] != g+1 {
					t.Error("memory is shared")
				}
				if i%11 != 3 { // some are never put back
					p.Put(a)
				}
			}
		}()
	}
	wg.Wait()
	put := 0 // by one goroutine
	for i := range n {
		if i%11 != 3 {
			put++
		}
	}
	if s := checkPool(t, p); s.Gets != uint64(8*n) || s.Puts != uint64(8*put) {
		t.Errorf("%+v, want %d gets and %d puts", s, 8*n, 8*put)
	}
}

func TestPoolStatsString(t *testing.T) {
	s := arena.PoolStats{Idle: 1, Reserved: 2, Gets: 3, Hits: 4, Misses: 5, Puts: 6, Dropped: 7, Trimmed: 8}
	if got, want := s.String(), "1 idle arena with 2 bytes, 3 gets (4 hits, 5 misses), 6 puts (7 dropped), 8 trimmed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
