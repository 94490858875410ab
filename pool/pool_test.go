package pool_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// An object has a number, so that it can be told from others.
type object struct {
	id   int
	next *object
	data []byte
}

// checkStats fails the test if the numbers of a pool at rest do not add up.
func checkStats(t testing.TB, s pool.Stats) pool.Stats {
	t.Helper()
	if s.InUse != int(s.Hits+s.Misses-s.Puts) || s.Idle != s.Cached+s.Depot || s.Puts != s.Hits+uint64(s.Idle)+s.Trimmed+s.Dropped() {
		t.Fatalf("numbers do not add up: %+v", s)
	}
	if s.Idle < 0 || s.Cached < 0 || s.Bytes < 0 || s.Idle == 0 && s.Bytes != 0 || s.HighWater < s.InUse {
		t.Fatalf("numbers out of range: %+v", s)
	}
	if s.Max != 0 && s.Idle > s.Max || s.MaxBytes != 0 && s.Bytes > s.MaxBytes {
		t.Fatalf("bound exceeded: %+v", s)
	}
	sum := pool.ClassStats{}
	for i, c := range s.Classes {
		if c.InUse != int(c.Hits+c.Misses-c.Puts) || c.Puts != c.Hits+uint64(c.Idle)+c.Trimmed+c.Dropped {
			t.Fatalf("numbers of a class do not add up: %+v", c)
		}
		if i > 0 && c.Size <= s.Classes[i-1].Size {
			t.Fatalf("classes not in order: %+v", s.Classes)
		}
		sum.Idle += c.Idle
		sum.Size += c.Idle * c.Size
		sum.Hits += c.Hits
		sum.Trimmed += c.Trimmed
	}
	if s.Classes != nil && (sum.Idle != s.Idle || sum.Size != s.Bytes || sum.Hits != s.Hits || sum.Trimmed != s.Trimmed) {
		t.Fatalf("classes do not add up to the whole: %+v", s)
	}
	return s
}

// checkCharged fails the test if not all that is idle counts against the bounds,
// or more than they allow.
func checkCharged(t testing.TB, b *pool.Budget, s pool.Stats) {
	t.Helper()
	objects, bytes := b.Charged()
	if s.Idle > objects || s.Bytes > bytes || s.Max != 0 && objects > s.Max || s.MaxBytes != 0 && bytes > s.MaxBytes {
		t.Fatalf("charged for %d objects and %d bytes: %+v", objects, bytes, s)
	}
}

// drain gets all idle objects of a pool and returns how often each was there.
func drain[T any](t testing.TB, p *pool.Pool[T]) map[*T]int {
	t.Helper()
	got := map[*T]int{}
	for {
		s := checkStats(t, p.Stats())
		if s.Idle == 0 {
			return got
		}
		p.Budget().Settle() // or the rest may be where this goroutine does not look
		for range s.Idle {
			misses := p.Stats().Misses
			x := p.Get()
			if p.Stats().Misses != misses {
				break
			}
			got[x]++
		}
	}
}

// noGC switches garbage collections off that the test does not ask for. Where chance
// chooses the magazines, by the depth of the stack, it leaves one choice.
func noGC(t testing.TB) {
	if !pool.Pinned {
		procs := runtime.GOMAXPROCS(1)
		t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	}
	old := debug.SetGCPercent(-1)
	testkit.CollectGarbage() // one that is under way
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// varyProcs lets a test change GOMAXPROCS. A cleanup that was about to run on a P
// that is gone since runs when that P is back (go1.25 and later; sweeping leaves
// it there), and with it whoever waits for the end of a collection. So at the end
// all Ps come back for a while.
func varyProcs(t testing.TB) {
	old := runtime.GOMAXPROCS(0)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(16)
		testkit.CollectGarbage()
		runtime.GOMAXPROCS(old)
	})
}

// globalPool is a zero Pool that is no object of Go's heap.
var globalPool pool.Pool[object]

// Objects come back, each once, over garbage collections too.
func TestPool(t *testing.T) {
	for name, p := range map[string]*pool.Pool[object]{
		"global":        &globalPool,
		"zero":          new(pool.Pool[object]),
		"New":           pool.New[object](nil),
		"with function": pool.New(func() *object { return &object{id: 5} }),
		"with Reset":    pool.New(nil, pool.Config[object]{Reset: func(x *object) { x.id = 5 }}),
		"with Cost":     pool.New(nil, pool.Config[object]{Cost: func(*object) int { return 8 }, MaxBytes: 1 << 20}),
		"with bounds":   pool.New(nil, pool.Config[object]{Max: 5000, MaxBytes: 1 << 20}),
	} {
		t.Run(name, func(t *testing.T) {
			before := p.Stats() // the global one is used again with -count
			const n = 1000
			put := map[*object]bool{}
			for range n {
				x := p.Get()
				if put[x] {
					t.Fatal("an object has two users")
				}
				put[x] = true
			}
			s := checkStats(t, p.Stats())
			if s.InUse-before.InUse != n || s.HighWater < n {
				t.Errorf("%d in use, high water %d, want %d", s.InUse, s.HighWater, n)
			}
			for x := range put {
				x.id = 5
				p.Put(x)
			}
			noGC(t)
			if s := checkStats(t, p.Stats()); s.Idle+int(s.Trimmed) < n-int(before.Idle) {
				t.Fatalf("%d objects put, %+v", n, s)
			}
			got := drain(t, p)
			for x, n := range got {
				if n != 1 || !put[x] || x.id != 5 {
					t.Fatalf("got %+v %d times, which was put: %v", x, n, put[x])
				}
			}
			for x := range got {
				p.Put(x)
			}
			if p.Trim() == 0 || checkStats(t, p.Stats()).Idle != 0 {
				t.Errorf("after Trim: %+v", p.Stats())
			}
		})
	}
}

// A nil Pool is Go's heap.
func TestPoolNil(t *testing.T) {
	var p *pool.Pool[object]
	x := p.Get()
	if x == nil {
		t.Fatal("Get of a nil Pool returned nil")
	}
	p.Put(x)
	if y := p.Get(); y == x {
		t.Error("a nil Pool kept an object")
	}
	if n := p.Trim(); n != 0 {
		t.Errorf("Trim of a nil Pool: %d", n)
	}
	if s := p.Stats(); s.Puts != 0 || s.Misses != 0 || s.Type != "" {
		t.Errorf("%+v", s)
	}
	testkit.PanicText(t, "pool: Put of a nil *pool_test.object into a nil Pool", func() { p.Put(nil) })
}

// A P finds again what it put last.
func TestPoolLastInFirstOut(t *testing.T) {
	defer pool.OneP()()
	p := pool.New(nil, pool.Config[object]{Max: 3}) // one by one, so the order is exact
	var xs [3]*object
	for i := range xs {
		xs[i] = p.Get()
	}
	for _, x := range xs {
		p.Put(x)
	}
	for i := len(xs) - 1; i >= 0; i-- {
		if x := p.Get(); x != xs[i] {
			t.Errorf("Get returned %p, want %p", x, xs[i])
		}
	}
}

// At the border between two magazines a P goes on without the depot: its two
// change places. (With the depot, this would wait for ever.)
func TestPoolAtTheBorder(t *testing.T) {
	testkit.NeedsReuse(t)
	if !pool.Pinned {
		t.Skip("a goroutine may find several pairs of magazines")
	}
	noGC(t)
	defer pool.OneP()()
	for _, conf := range []pool.Config[object]{{}, {Cost: func(*object) int { return 1 }}} {
		p := pool.New(nil, conf)
		for range pool.Rounds + 1 {
			p.Put(new(object))
		}
		p.Budget().Locked(func() {
			for range 10 {
				x, y := p.Get(), p.Get()
				p.Put(x)
				p.Put(y)
			}
		})
		if s := checkStats(t, p.Stats()); s.Hits != 20 || s.Cached != pool.Rounds+1 {
			t.Errorf("%+v", s)
		}
	}
}

// What a pool no longer has it does not refer to either.
func TestPoolForgets(t *testing.T) {
	noGC(t)
	for name, p := range map[string]*pool.Pool[object]{
		"plain":      pool.New[object](nil),
		"costed":     pool.New(nil, pool.Config[object]{Cost: func(*object) int { return 1 }}),
		"one by one": pool.New(nil, pool.Config[object]{Max: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			const n = 300
			var c testkit.Census
			func() {
				for range n {
					p.Put(testkit.Enroll(&c, new(object)))
				}
				drain(t, p)
			}()
			if s := checkStats(t, p.Stats()); s.Idle != 0 {
				t.Fatalf("%+v", s)
			}
			testkit.CollectGarbage()
			if alive := c.Alive(); alive != 0 {
				t.Errorf("%d of %d objects are alive", alive, n)
			}
			runtime.KeepAlive(p)
		})
	}
}

// Objects without size all have one address, and are no double Put.
func TestPoolUnsized(t *testing.T) {
	var p pool.Pool[struct{}]
	for range 1000 {
		p.Put(new(struct{}))
	}
	if drain(t, &p)[nil] != 0 {
		t.Error("Get returned nil")
	}
	if s := checkStats(t, p.Stats()); s.Hits+s.Trimmed != 1000 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}

// A steady program allocates nothing, in magazines and beyond them.
func TestPoolSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	noGC(t)
	cost := func(x *object) int { return 10 }
	for name, p := range map[string]*pool.Pool[object]{
		"plain":      new(pool.Pool[object]),
		"settings":   pool.New(func() *object { return new(object) }, pool.Config[object]{Max: 10_000, Reset: func(x *object) { x.id = 0 }, Floor: 10}),
		"costed":     pool.New(nil, pool.Config[object]{Cost: cost, MaxBytes: 1 << 20}),
		"one by one": pool.New(nil, pool.Config[object]{Cost: cost, Max: 1}),
	} {
		depths := []int{1, 50, 1000}
		if name == "one by one" {
			depths = []int{1}
		}
		for _, n := range depths {
			out := make([]*object, n)
			work := func() {
				for i := range out {
					out[i] = p.Get()
				}
				for _, x := range out {
					p.Put(x)
				}
			}
			// In a build with locked cells a goroutine may find others at first.
			for range 50 {
				work()
			}
			if allocs := testing.AllocsPerRun(50, work); allocs != 0 {
				t.Errorf("%s, %d objects at a time: %v allocs/op, want 0", name, n, allocs)
			}
		}
		checkStats(t, p.Stats())
	}
}
