package pool_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// filled returns a pool with n idle objects in its depot, and begins a step.
func filled(n int, conf pool.Config[object]) *pool.Pool[object] {
	p := pool.New(nil, conf)
	for range n {
		p.Put(new(object))
	}
	p.Budget().Settle()
	return p
}

// steps returns how many objects are idle after each of n steps.
func steps(t *testing.T, p *pool.Pool[object], n int, near bool) (idle []int) {
	t.Helper()
	for range n {
		p.Budget().AfterGC(near)
		idle = append(idle, checkStats(t, p.Stats()).Idle)
	}
	return idle
}

// What lay idle for a whole step is trimmed by half, down to the floor. The first
// step only begins to look.
func TestTrimHalves(t *testing.T) {
	noGC(t)
	defer pool.OneP()() // magazines of another would count against Max
	for _, c := range []struct {
		conf pool.Config[object]
		want []int
	}{
		{pool.Config[object]{}, []int{1000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 0, 0}},
		{pool.Config[object]{Floor: 100}, []int{1000, 500, 250, 125, 100, 100}},
		{pool.Config[object]{Floor: 2000}, []int{1000, 1000}},
		{pool.Config[object]{Max: 1000, Floor: 1000}, []int{1000, 1000}},
		{pool.Config[object]{Cost: func(*object) int { return 3 }}, []int{1000, 500, 250}},
		{pool.Config[object]{Idle: time.Hour}, []int{1000, 1000}}, // the timer sets the pace
	} {
		p := filled(1000, c.conf)
		p.Budget().SetClock(func(time.Duration, func()) {})
		if got := steps(t, p, len(c.want), false); !slices.Equal(got, c.want) {
			t.Errorf("idle after each step: %v, want %v", got, c.want)
		}
	}
}

// What a step found in use is not trimmed, nor what the program needed since.
func TestTrimLeavesTheWorkingSet(t *testing.T) {
	noGC(t)
	p := filled(1000, pool.Config[object]{})
	p.Budget().AfterGC(false)
	for range 5 {
		var out []*object
		idle := p.Stats().Idle
		for range 600 {
			out = append(out, p.Get())
		}
		if s := checkStats(t, p.Stats()); s.Misses != 0 {
			t.Fatalf("%+v", s)
		}
		least := p.Stats().Depot
		for _, x := range out {
			p.Put(x)
		}
		p.Budget().Settle()
		p.Budget().AfterGC(false)
		if got, want := p.Stats().Idle, idle-(least+1)/2; got != want {
			t.Fatalf("%d idle after a step with at least %d of %d in the depot, want %d", got, least, idle, want)
		}
	}
	if s := p.Stats(); s.Idle < 600 {
		t.Errorf("fewer than what is needed: %+v", s)
	}
}

// The coldest go first.
func TestTrimDropsTheColdest(t *testing.T) {
	noGC(t)
	p := pool.New(nil, pool.Config[object]{Max: 100_000}) // not in magazines, where this machine has few Ps
	var xs []*object
	for i := range 1000 {
		xs = append(xs, &object{id: i})
	}
	for i := 0; i < len(xs); i += 10 {
		for _, x := range xs[i : i+10] {
			p.Put(x)
		}
		p.Budget().Settle() // ten by ten, in whatever order the magazines come
	}
	steps(t, p, 3, false)
	got := drain(t, p)
	if len(got) != 250 {
		t.Fatalf("%d objects left, want 250", len(got))
	}
	for x := range got {
		if x.id < 750 {
			t.Errorf("object %d is still there", x.id)
		}
	}
}

// What the Ps have stays as long as the pool is used, and comes to the depot when
// it is not.
func TestTrimRetiresQuietCells(t *testing.T) {
	noGC(t)
	for _, conf := range []pool.Config[object]{{}, {Cost: func(*object) int { return 1 }}} {
		p := pool.New(nil, conf)
		for range 40 {
			p.Put(new(object))
		}
		p.Budget().AfterGC(false)
		for range 5 { // traffic, by which a goroutine that finds other magazines adds an object
			p.Put(p.Get())
			p.Budget().AfterGC(false)
			if s := checkStats(t, p.Stats()); s.Cached != s.Idle || s.Idle < 40 {
				t.Fatalf("a pool in use: %+v", s)
			}
		}
		n := p.Stats().Idle
		p.Budget().AfterGC(false) // retires
		if s := checkStats(t, p.Stats()); s.Cached != n {
			t.Fatalf("retired, not settled: %+v", s)
		}
		p.Budget().AfterGC(false) // settles
		if s := checkStats(t, p.Stats()); s.Depot != n {
			t.Fatalf("settled: %+v", s)
		}
		var want []int
		for n > 0 {
			n /= 2
			want = append(want, n)
		}
		if got := steps(t, p, len(want), false); !slices.Equal(got, want) {
			t.Errorf("idle after each step: %v, want %v", got, want)
		}
		if n, bytes := p.Budget().Charged(); n != 0 || bytes != 0 {
			t.Errorf("%d objects, %d bytes charged", n, bytes)
		}
	}
}

// Near the memory limit all above the floor goes, in a few steps, whether the pool
// is in use or not.
func TestTrimUnderPressure(t *testing.T) {
	noGC(t)
	for _, c := range []struct {
		conf pool.Config[object]
		want []int
	}{
		{pool.Config[object]{}, []int{250, 62, 15, 3, 0}},
		{pool.Config[object]{Floor: 20}, []int{250, 62, 20, 20}},
		{pool.Config[object]{Idle: time.Hour}, []int{250, 62, 15, 3, 0}},
	} {
		p := filled(1000, c.conf)
		if got := steps(t, p, len(c.want), true); !slices.Equal(got, c.want) {
			t.Errorf("idle after each step: %v, want %v", got, c.want)
		}
	}
	p := pool.New[object](nil)
	for range 40 {
		p.Put(new(object))
	}
	for i := 0; p.Stats().Idle > 0; i++ {
		if i > 10 {
			t.Fatalf("what the Ps have stays: %+v", p.Stats())
		}
		p.Put(p.Get())
		p.Budget().AfterGC(true)
		if i > 3 {
			p.Budget().AfterGC(true) // nobody puts any more
		}
	}
}

// What was trimmed is not referred to any more, and what is left is. Of few objects,
// and of many if a good part is left, the list stays where it is.
func TestTrimForgets(t *testing.T) {
	noGC(t)
	for _, c := range []struct{ objects, floor int }{{60, 10}, {300, 1}, {300, 140}, {300, 290}} {
		for name, conf := range map[string]pool.Config[object]{
			"plain":  {Floor: c.floor},
			"costed": {Floor: c.floor, Cost: func(*object) int { return 1 }},
		} {
			p := pool.New(nil, conf)
			var census testkit.Census
			for range c.objects {
				p.Put(testkit.Enroll(&census, new(object)))
			}
			if n := p.Trim(); n != c.objects-c.floor {
				t.Errorf("%s %+v: Trim dropped %d", name, c, n)
			}
			testkit.CollectGarbage()
			if alive := census.Alive(); alive != c.floor {
				t.Errorf("%s %+v: %d objects are alive", name, c, alive)
			}
			runtime.KeepAlive(p)
		}
	}
}

// The real thing: collections trim, the memory limit presses, the floor stays.
func TestTrimByCollections(t *testing.T) {
	p := pool.New(nil, pool.Config[object]{Floor: 10})
	for range 5000 {
		p.Put(new(object))
	}
	testkit.Eventually(t, "pool at its floor", func() bool {
		s := checkStats(t, p.Stats())
		if s.Idle < 10 {
			t.Fatalf("below the floor: %+v", s)
		}
		return s.Idle == 10
	})
	for range 5 {
		testkit.CollectGarbage()
	}
	if s := checkStats(t, p.Stats()); s.Idle != 10 || s.Trimmed != 4990 {
		t.Errorf("%+v", s)
	}

	idle := pool.New(nil, pool.Config[object]{Idle: time.Hour})
	for range 5000 {
		idle.Put(new(object))
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20)) // less than a program takes
	testkit.Eventually(t, "nothing idle near the memory limit", func() bool { return checkStats(t, idle.Stats()).Idle == 0 })
	runtime.KeepAlive(p)
}

// What is idle in a pool that is used stays over collections, whatever their
// number.
func TestCollectionsLeaveWhatIsUsed(t *testing.T) {
	defer pool.OneP()()
	p := pool.New(func() *object { return new(object) })
	var out [200]*object
	use := func() {
		for i := range out {
			out[i] = p.Get()
		}
		for _, x := range out {
			p.Put(x)
		}
	}
	use()
	for range 20 {
		runtime.GC()
		use()
	}
	// A goroutine may find another pair of magazines now and then if it has to
	// choose.
	if s := checkStats(t, p.Stats()); s.Misses > 200 && pool.Pinned {
		t.Errorf("%+v", s)
	}
}

// Trim takes all but the floor.
func TestShrink(t *testing.T) {
	noGC(t)
	for _, floor := range []int{0, 7, 5000} {
		p := pool.New(nil, pool.Config[object]{Floor: floor})
		for range 1000 {
			p.Put(new(object))
		}
		want := max(0, 1000-floor)
		if n := p.Trim(); n != want {
			t.Errorf("Trim dropped %d, want %d", n, want)
		}
		if s := checkStats(t, p.Stats()); s.Idle != 1000-want || s.Trimmed != uint64(want) || s.Cached != 0 {
			t.Errorf("%+v", s)
		}
		if n := p.Trim(); n != 0 {
			t.Errorf("a second Trim dropped %d", n)
		}
	}
	if n := new(pool.Pool[object]).Trim(); n != 0 {
		t.Errorf("Trim of a zero Pool: %d", n)
	}
}

// Nobody takes magazines from a cell in which a goroutine is at work.
func TestShrinkWaitsForCells(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		varyProcs(t)
		runtime.GOMAXPROCS(2)
	}
	p := pool.New[object](nil)
	p.Put(new(object))
	var inside, shrunk, early atomic.Bool
	go func() {
		for !inside.Load() {
			runtime.Gosched()
		}
		p.Trim()
		shrunk.Store(true)
	}()
	p.InCell(func() {
		inside.Store(true)
		// This goroutine cannot be stopped here, so a stop of the world waits.
		for start := time.Now(); time.Since(start) < 20*time.Millisecond && !early.Load(); {
			early.Store(shrunk.Load())
		}
	})
	if early.Load() {
		t.Error("Trim was over while a goroutine was in a cell")
	}
	for !shrunk.Load() {
		runtime.Gosched()
	}
	if s := checkStats(t, p.Stats()); s.Idle != 0 {
		t.Errorf("%+v", s)
	}
}

// After a peak the depot gives its own memory back, too.
func TestDepotShrinks(t *testing.T) {
	noGC(t)
	for _, conf := range []pool.Config[object]{{}, {Cost: func(*object) int { return 1 }}} {
		p := pool.New(nil, conf)
		before := p.Budget().Footprint()
		for range 100_000 {
			p.Put(new(object))
		}
		if n := p.Budget().Footprint(); n < 200_000 {
			t.Errorf("%d words for 100,000 objects: what is counted?", n)
		}
		for range 30 {
			p.Budget().AfterGC(false)
		}
		if n := p.Budget().Footprint(); n > before+200 {
			t.Errorf("%d words for nothing, %d before", n, before)
		}
	}
}

// A pool that is dropped dies with all it has, whatever it has armed, and is
// listed no longer.
func TestDroppedPoolDies(t *testing.T) {
	count := func() (n int) {
		for s := range pool.Pools() {
			if s.Name == "dropped" {
				n++
				checkStats(t, s)
			}
		}
		return n
	}
	var clock clock
	var c testkit.Census
	func() {
		p := pool.New(nil, pool.Config[object]{Name: "dropped", Idle: time.Hour})
		p.Budget().SetClock(clock.after)
		q := pool.New(nil, pool.Config[object]{Name: "dropped"})
		b := pool.NewBytes(pool.BytesConfig{Name: "dropped", Idle: time.Hour}) // with a real timer
		for range 200 {
			p.Put(testkit.Enroll(&c, new(object)))
			q.Put(testkit.Enroll(&c, new(object)))
			buf := make([]byte, 100)
			b.Put(testkit.Enroll(&c, &buf))
		}
		if n := count(); n != 3 {
			t.Errorf("%d pools listed, want 3", n)
		}
		if c.Alive() == 0 {
			t.Error("nothing kept")
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(q)
		runtime.KeepAlive(b)
	}()
	testkit.Eventually(t, "the pools are gone", func() bool { return count() == 0 && c.Alive() == 0 })
	if !clock.tick(t) || clock.tick(t) {
		t.Error("the timer of a dropped pool does not stop")
	}
}
