package pool_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// Classes are at most a quarter apart, and each size finds the smallest that has
// room.
func TestClasses(t *testing.T) {
	if pool.ClassSize(0) != pool.Smallest || pool.ClassSize(pool.NumClasses-1) != pool.Largest {
		t.Fatalf("classes from %d to %d bytes", pool.ClassSize(0), pool.ClassSize(pool.NumClasses-1))
	}
	for i := 1; i < pool.NumClasses; i++ {
		if a, b := pool.ClassSize(i-1), pool.ClassSize(i); b <= a || 4*b > 5*a {
			t.Errorf("classes of %d and %d bytes are neighbours", a, b)
		}
	}
	check := func(n int) {
		want := 0
		for pool.ClassSize(want) < n {
			want++
		}
		if got := pool.ClassFor(n); got != want {
			t.Errorf("%d bytes get class %d of %d bytes, want %d of %d", n, got, pool.ClassSize(got), want, pool.ClassSize(want))
		}
		if n < pool.Smallest {
			return
		}
		if pool.ClassSize(want) > n {
			want--
		}
		if got := pool.ClassOf(n); got != want {
			t.Errorf("capacity %d belongs to class %d, want %d of %d bytes", n, got, want, pool.ClassSize(want))
		}
	}
	for n := range 5000 {
		check(n)
	}
	for i := range pool.NumClasses {
		for d := -2; d <= 2; d++ {
			if n := pool.ClassSize(i) + d; n <= pool.Largest {
				check(n)
			}
		}
	}
}

// The zero Bytes, a new one and a nil one hand out zero buffers of the length that
// was asked for.
func TestBytes(t *testing.T) {
	for name, b := range map[string]*pool.Bytes{
		"zero":       new(pool.Bytes),
		"new":        pool.NewBytes(),
		"nil":        nil,
		"one by one": pool.NewBytes(pool.BytesConfig{Max: 1}),
		"no room":    pool.NewBytes(pool.BytesConfig{MaxBytes: 63}),
		"no bound":   pool.NewBytes(pool.BytesConfig{MaxBytes: -1}),
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				var out []*[]byte
				for _, n := range []int{0, 1, 63, 64, 65, 100, 1000, 4096, 5000, 100_000, 1 << 20, pool.Largest} {
					p := b.Get(n)
					if len(*p) != n || b != nil && cap(*p) != pool.ClassSize(pool.ClassFor(n)) {
						t.Errorf("Get(%d): length %d, capacity %d", n, len(*p), cap(*p))
					}
					all := (*p)[:cap(*p)]
					if len(bytes.TrimLeft(all, "\x00")) != 0 {
						t.Errorf("Get(%d): not zero", n)
					}
					for i := range all {
						all[i] = 0xAA
					}
					out = append(out, p)
				}
				for _, p := range out {
					*p = (*p)[:min(len(*p), 3)] // the length does not matter
					b.Put(p)
				}
				s := checkStats(t, b.Stats())
				if s.InUse != 0 {
					t.Errorf("%+v", s)
				}
				if name == "no room" && (s.Idle != 0 || s.DroppedBytes == 0) || name == "new" && s.Idle == 0 {
					t.Errorf("%+v", s)
				}
			}
			if n := b.Trim(); b != nil && n != 0 != (name != "no room") {
				t.Errorf("Trim returned %d bytes", n)
			}
			if s := checkStats(t, b.Stats()); s.Idle != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// More than the largest class is made, and dropped.
func TestBytesTooLarge(t *testing.T) {
	b := pool.NewBytes()
	p := b.Get(pool.Largest + 1)
	if len(*p) != pool.Largest+1 {
		t.Fatalf("length %d", len(*p))
	}
	s := checkStats(t, b.Stats())
	if s.Misses != 1 || s.InUse != 1 || s.HighWater != 1 {
		t.Errorf("%+v", s)
	}
	b.Put(p)
	if s := checkStats(t, b.Stats()); s.DroppedSize != 1 || s.Idle != 0 || s.InUse != 0 {
		t.Errorf("%+v", s)
	}
	b.Put(b.Get(pool.Largest + 1))
	if s := checkStats(t, b.Stats()); s.HighWater != 1 || s.Misses != 2 {
		t.Errorf("%+v", s)
	}
	for _, n := range []int{0, 1, 63} {
		small := make([]byte, n)
		b.Put(&small)
	}
	var none []byte
	b.Put(&none)
	if s := checkStats(t, b.Stats()); s.DroppedSize != 6 || s.Puts != 6 || s.Idle != 0 {
		t.Errorf("%+v", s)
	}
}

// A buffer from elsewhere is filed by its capacity and cut down to the class.
func TestBytesForeign(t *testing.T) {
	noGC(t)
	for _, c := range []struct{ capacity, class int }{{64, 64}, {79, 64}, {80, 80}, {100, 96}, {1279, 1024}, {1280, 1280}, {5000, 4096}} {
		b := pool.NewBytes()
		s := bytes.Repeat([]byte{0xAA}, c.capacity)
		s = s[:0:c.capacity]
		b.Put(&s)
		st := checkStats(t, b.Stats())
		if len(st.Classes) != 1 || st.Classes[0].Size != c.class || st.Bytes != c.class {
			t.Errorf("capacity %d: %+v", c.capacity, st)
		}
		b.Budget().Settle()
		p := b.Get(c.class)
		if p != &s || cap(*p) != c.class || len(bytes.TrimLeft(*p, "\x00")) != 0 {
			t.Errorf("capacity %d: Get returned another buffer, or %d bytes of it, or not zero", c.capacity, cap(*p))
		}
	}
}

// Dirty leaves in a buffer what was there.
func TestBytesDirty(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	for _, dirty := range []bool{false, true} {
		b := pool.NewBytes()
		if dirty {
			b = pool.NewBytes(pool.BytesConfig{Dirty: true})
		}
		p := b.Get(100)
		copy(*p, "secret")
		(*p)[:cap(*p)][110] = 'x'
		b.Put(p)
		b.Budget().Settle()
		q := b.Get(100)
		if q != p {
			t.Fatal("another buffer")
		}
		if got := string((*q)[:6]) == "secret" && (*q)[:cap(*q)][110] == 'x'; got != dirty {
			t.Errorf("dirty is %v, the old bytes are there: %v", dirty, got)
		}
	}
}

// All classes together keep to the bounds, at any time.
func TestBytesBoundsAreStrict(t *testing.T) {
	testkit.NeedsReuse(t)
	const mib = 1 << 20
	for _, c := range []struct{ max, maxBytes int }{{0, 1 * mib}, {0, 100_000}, {0, 5000}, {50, mib}, {3, mib}} {
		b := pool.NewBytes(pool.BytesConfig{Max: c.max, MaxBytes: c.maxBytes})
		watch(func() {
			if s := b.Stats(); s.Bytes > c.maxBytes || c.max > 0 && s.Idle > c.max {
				t.Errorf("%d buffers of %d bytes idle, at most %d and %d allowed", s.Idle, s.Bytes, c.max, c.maxBytes)
			}
			if n, bytes := b.Budget().Charged(); bytes > c.maxBytes || c.max > 0 && n > c.max {
				t.Errorf("%d buffers, %d bytes charged, at most %d and %d allowed", n, bytes, c.max, c.maxBytes)
			}
		}, func() {
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					rng := rand.New(rand.NewPCG(1, uint64(g)))
					var out []*[]byte
					for i := range 3000 {
						if (i/200+g)%2 == 0 || len(out) == 0 {
							out = append(out, b.Get(1<<rng.IntN(17)))
						} else {
							k := rng.IntN(len(out))
							b.Put(out[k])
							out[k] = out[len(out)-1]
							out = out[:len(out)-1]
						}
					}
					for _, p := range out {
						b.Put(p)
					}
				}()
			}
			wg.Wait()
		})
		s := checkStats(t, b.Stats())
		if s.InUse != 0 || s.Dropped() == 0 || s.Idle == 0 {
			t.Errorf("%+v", s)
		}
		b.Trim()
		if n, bytes := b.Budget().Charged(); n != 0 || bytes != 0 {
			t.Errorf("an empty Bytes is charged %d buffers, %d bytes", n, bytes)
		}
	}
	if s := new(pool.Bytes).Stats(); s.MaxBytes != 64*mib {
		t.Errorf("a zero Bytes keeps up to %d bytes", s.MaxBytes)
	}
}

// A P's magazines are small where buffers are large.
func TestBytesMagazines(t *testing.T) {
	noGC(t)
	for _, c := range []struct {
		size, maxBytes int
		most           int // bytes that two magazines may hold
	}{
		{1 << 10, 64 << 20, 2 * pool.Rounds << 10},
		{16 << 10, 64 << 20, 128 << 10},
		{100 << 10, 64 << 20, 2 * 112 << 10},
		{1 << 20, 1 << 30, 2 << 20},
		{1 << 20, 3 << 20, 0},
	} {
		b := pool.NewBytes(pool.BytesConfig{MaxBytes: c.maxBytes})
		for range 200 {
			s := make([]byte, c.size)
			b.Put(&s)
		}
		s := checkStats(t, b.Stats())
		if s.Cached*s.Classes[0].Size > c.most*pool.Pairs() || c.most > 0 && s.Cached == 0 {
			t.Errorf("buffers of %d bytes: %d of them in magazines, at most %d bytes for each P wanted", c.size, s.Cached, c.most)
		}
	}
}

// A steady program allocates nothing, slice headers included.
func TestBytesSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	noGC(t)
	sizes := []int{0, 10, 100, 1500, 4096, 70_000, 1 << 20}
	for _, b := range []*pool.Bytes{new(pool.Bytes), pool.NewBytes(pool.BytesConfig{Max: len(sizes)}), pool.NewBytes(pool.BytesConfig{Dirty: true})} {
		var out [7]*[]byte
		work := func() {
			for i, n := range sizes {
				out[i] = b.Get(n)
			}
			for _, p := range out {
				b.Put(p)
			}
		}
		for range 50 {
			work()
		}
		if n := testing.AllocsPerRun(50, work); n != 0 {
			t.Errorf("%v allocs/op, want 0", n)
		}
		checkStats(t, b.Stats())
	}
}

// Trimming leaves the floor, of the smallest buffers.
func TestBytesFloor(t *testing.T) {
	noGC(t)
	b := pool.NewBytes(pool.BytesConfig{Floor: 15})
	for range 10 {
		for _, n := range []int{100, 1000, 10_000} {
			s := make([]byte, n)
			b.Put(&s)
		}
	}
	for range 20 {
		b.Budget().AfterGC(false)
	}
	s := checkStats(t, b.Stats())
	if s.Idle != 15 || s.Classes[0].Idle != 10 || s.Classes[1].Idle != 5 || s.Classes[2].Idle != 0 {
		t.Errorf("%+v", s)
	}
	if n := b.Trim(); n != 0 {
		t.Errorf("Trim below the floor: %d bytes", n)
	}
}

// A class that is not used is trimmed although another one is.
func TestBytesTrimsEachClass(t *testing.T) {
	noGC(t)
	b := new(pool.Bytes)
	for range 40 {
		for _, n := range []int{112, 1024} {
			s := make([]byte, n)
			b.Put(&s)
		}
	}
	for range 10 {
		b.Put(b.Get(100))
		b.Budget().AfterGC(false)
	}
	s := checkStats(t, b.Stats())
	if s.Classes[0].Idle < 40 || s.Classes[1].Idle != 0 {
		t.Errorf("%+v", s.Classes)
	}
}

// A header that is put twice is noticed.
func TestBytesPutTwice(t *testing.T) {
	testkit.NeedsReuse(t)
	noGC(t)
	b := pool.NewBytes(pool.BytesConfig{Name: "b"})
	p := b.Get(100)
	b.Put(p)
	b.Put(p)
	testkit.PanicText(t, twice(`Bytes "b"`, p), func() { b.Trim() })
	if s := checkStats(t, b.Stats()); s.Trimmed != 1 || s.DroppedTwice != 1 {
		t.Errorf("%+v", s)
	}
}
