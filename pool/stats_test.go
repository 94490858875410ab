package pool_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/pool"
)

// Stats says what the options were and what happened.
func TestStats(t *testing.T) {
	noGC(t)
	defer pool.OneP()()
	p := pool.New(nil, pool.Config[object]{Name: "p", Max: 500, MaxBytes: 1 << 20, Floor: 9, Cost: func(x *object) int { return 10 }})
	var xs []*object
	for range 200 {
		xs = append(xs, p.Get())
	}
	for _, x := range xs[:150] {
		p.Put(x)
	}
	s := checkStats(t, p.Stats())
	if s.Name != "p" || s.Type != "*pool_test.object" || s.Max != 500 || s.MaxBytes != 1<<20 || s.Floor != 9 {
		t.Errorf("%+v", s)
	}
	if s.Misses != 200 || s.Hits != 0 || s.Puts != 150 || s.Idle != 150 || s.InUse != 50 || s.HighWater != 200 || s.Bytes != 1500 || s.Cached == 0 || s.Magazines == 0 || s.Classes != nil {
		t.Errorf("%+v", s)
	}
	p.Put(p.Get())
	if s := checkStats(t, p.Stats()); s.Hits+s.Misses != 201 || pool.Pinned && s.Hits != 1 {
		t.Errorf("%+v", s)
	}
	before := p.Stats()
	p.Trim()
	if s := checkStats(t, p.Stats()); s.Idle != 9 || int(s.Trimmed) != before.Idle-9 || s.Depot != 9 || s.Bytes != 90 {
		t.Errorf("%+v", s)
	}
	b := pool.NewBytes(pool.BytesConfig{Name: "b"})
	for _, n := range []int{1000, 10, 100_000} {
		b.Put(b.Get(n))
	}
	if s := checkStats(t, b.Stats()); s.Type != "*[]uint8" || len(s.Classes) != 3 || s.Classes[0].Size != 64 || s.Bytes != 64+1024+114688 {
		t.Errorf("%+v", s)
	}
	var l pool.Local[object]
	l.Put(l.Get())
	if s := checkStats(t, l.Stats()); s.Type != "*pool_test.object" || s.Idle != 1 || s.HighWater != 1 {
		t.Errorf("%+v", s)
	}
}

// The peak is exact where no other P has idle objects.
func TestHighWater(t *testing.T) {
	noGC(t)
	p := pool.New(nil, pool.Config[object]{Max: 3}) // no magazines
	var xs []*object
	for i := range 50 {
		xs = append(xs, p.Get())
		if s := p.Stats(); s.HighWater != i+1 {
			t.Fatalf("%+v", s)
		}
	}
	for _, x := range xs {
		p.Put(x)
	}
	p.Get()
	if s := checkStats(t, p.Stats()); s.HighWater != 50 {
		t.Errorf("%+v", s)
	}
	q := pool.New[object](nil)
	for range 10 {
		for range 300 {
			xs = append(xs, q.Get())
		}
		for _, x := range xs[50:] {
			q.Put(x)
		}
		xs = xs[:50]
	}
	if s := checkStats(t, q.Stats()); s.HighWater < 300 || s.HighWater > 300+2*pool.Rounds*pool.Pairs() {
		t.Errorf("high water %d, want 300 or a little more", s.HighWater)
	}
}

func TestStatsString(t *testing.T) {
	for want, s := range map[string]pool.Stats{
		`pool "p" of *T: 1 in use, high water 2, 7 idle (3 cached, 4 in the depot) with 5 bytes, 6 hits, 7 misses, 8 puts, 9 trimmed, 0 dropped`: {
			Name: "p", Type: "*T", InUse: 1, HighWater: 2, Idle: 7, Cached: 3, Depot: 4, Bytes: 5, Hits: 6, Misses: 7, Puts: 8, Trimmed: 9},
		`a pool without a name of *T: 0 in use, high water 0, 0 idle (0 cached, 0 in the depot) with 0 bytes, 0 hits, 0 misses, 0 puts, 0 trimmed, 15 dropped (1 by Max, 2 by MaxBytes, 3 by panics, 4 by size, 5 put twice)`: {
			Type: "*T", DroppedFull: 1, DroppedBytes: 2, DroppedPanic: 3, DroppedSize: 4, DroppedTwice: 5},
	} {
		if got := s.String(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

// Pools lists what has a name, in the order in which it was made.
func TestPools(t *testing.T) {
	a := pool.New(nil, pool.Config[object]{Name: "list a"})
	b := pool.NewBytes(pool.BytesConfig{Name: "list b"})
	c := pool.New(nil, pool.Config[int]{Name: "list c"})
	pool.New[int](nil)
	pool.NewLocal(nil, pool.LocalConfig[int]{Name: "list d"})
	a.Put(new(object))
	var got []string
	for s := range pool.Pools() {
		if strings.HasPrefix(s.Name, "list ") {
			got = append(got, s.Name+" "+s.Type)
			if s.Name == "list a" && s.Idle != 1 {
				t.Errorf("%+v", s)
			}
		}
	}
	if want := "list a *pool_test.object, list b *[]uint8, list c *int"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	for range pool.Pools() {
		break
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
}
