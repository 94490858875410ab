package slab_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// The numbers add up after any program, and say what the program did.
func TestStatsAddUp(t *testing.T) {
	for name, conf := range map[string]slab.Config[linked]{
		"plain":     slab.Config[linked]{},
		"capacity":  {Capacity: 700, Name: "n"},
		"callbacks": {Init: func(*linked) {}, Reset: func(p *linked) { *p = linked{} }},
	} {
		t.Run(name, func(t *testing.T) {
			c := slab.NewCache[linked](conf)
			var held []*linked
			allocs, frees := 0, 0
			for i := range 3000 {
				switch rand.IntN(9) {
				case 0, 1, 2:
					if p, err := c.TryAlloc(); err == nil {
						held = append(held, p)
						allocs++
					}
				case 3, 4:
					if n := len(held); n > 0 {
						c.Free(held[n-1])
						held = held[:n-1]
						frees++
					}
				case 5:
					if n := rand.IntN(100); len(held)+n < 700 {
						batch := make([]*linked, n)
						c.AllocBatch(batch)
						held = append(held, batch...)
						allocs += n
					}
				case 6:
					n := rand.IntN(len(held) + 1)
					c.FreeBatch(held[n:])
					frees += len(held) - n
					held = held[:n]
				case 7:
					if r, err := c.Reserve(rand.IntN(10)); err == nil {
						allocs += r.Len()
						frees += r.Len()
						r.Close()
					}
				case 8:
					if i%100 == 0 {
						c.Trim()
					}
				}
				s := c.Stats()
				if s.InUse != len(held) || i%50 == 0 || int(s.Hits+s.Misses) != allocs || int(s.Frees) != frees {
					s = atRest(t, c)
					if s.InUse != len(held) || int(s.Hits+s.Misses) != allocs || int(s.Frees) != frees {
						t.Fatalf("%d allocated, %d freed, %d held, but %+v", allocs, frees, len(held), s)
					}
				}
			}
		})
	}
}

// An Alloc that finds an object in the magazines of its P is a hit, and one that
// has to ask the depot is a miss.
func TestStatsHits(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	quiet(t)
	c := slab.NewCache[linked]()
	limit := slab.Limit(c)
	want := func(hits, misses, frees, cached, depot int) {
		t.Helper()
		s := atRest(t, c)
		if int(s.Hits) != hits || int(s.Misses) != misses || int(s.Frees) != frees || s.Cached != cached || s.Depot != depot {
			t.Errorf("%+v\nwant %d hits, %d misses, %d frees, %d cached, %d in the depot", s, hits, misses, frees, cached, depot)
		}
	}
	want(0, 0, 0, 0, 0)
	p := c.Alloc()
	want(0, 1, 0, limit-1, 0)
	c.Free(p)
	want(0, 1, 1, limit, 0)
	all := make([]*linked, 3*limit)
	for i := range all {
		all[i] = c.Alloc()
	}
	want(3*limit-2, 3, 1, 0, 0) // the first is the one of before
	for _, p := range all {
		c.Free(p)
	}
	want(3*limit-2, 3, 3*limit+1, 2*limit, limit)
	c.AllocBatch(all)
	want(6*limit-3, 4, 3*limit+1, 0, 0)
	if s := c.Stats(); s.Magazines < 2 || s.Magazines > 4 {
		t.Errorf("%d magazines", s.Magazines)
	}
}

// The columns, for an object whose numbers are known.
func TestStatsColumns(t *testing.T) {
	onOneP(t)
	quiet(t)
	type object [40]byte
	c := slab.NewCache(slab.Config[object]{Name: "columns", Capacity: 5000})
	all := make([]*object, 500)
	c.AllocBatch(all)
	c.FreeBatch(all[:100])
	per := 8184 / 40
	want := slab.Stats{
		Name:       "columns",
		InUse:      400,
		Objects:    3 * per,
		ObjectSize: 40,
		PerSlab:    per,
		SlabsInUse: 3,
		Slabs:      3,
		Capacity:   5000,
		Bytes:      3 * per * 40,
		Frees:      100,
		Misses:     10, // a slab of 204 fills three magazines of 57, and part of a fourth
		Hits:       490,
	}
	got := atRest(t, c)
	want.Cached, want.Depot, want.Magazines = got.Cached, got.Depot, got.Magazines
	if got != want || got.Cached+got.Depot < 100 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	text := fmt.Sprintf(`cache "columns": 400 of 612 objects of 40 bytes active, 3 of 3 slabs of 204 objects, %d cached and %d in the depot in %d magazines, 490 hits, 10 misses, 100 frees, 24480 bytes`, got.Cached, got.Depot, got.Magazines)
	if got.String() != text || c.String() != text {
		t.Errorf("String\n got %s\nwant %s", got, text)
	}
	for s := range slab.Caches() {
		if s.Name == "columns" && s != got {
			t.Errorf("listed as %+v", s)
		}
	}
	runtime.KeepAlive(c)
}

// Objects without size take no memory and are counted all the same.
func TestStatsUnsized(t *testing.T) {
	c := slab.NewCache(slab.Config[struct{}]{Capacity: 10})
	for range 4 {
		c.Alloc()
	}
	c.Free(c.Alloc())
	s := atRest(t, c)
	if s.InUse != 4 || s.ObjectSize != 0 || s.Bytes != 0 || s.Objects != 0 || s.Slabs != 0 || s.Misses != 5 || s.Frees != 1 {
		t.Errorf("%+v", s)
	}
}

// What Stats says of large and of small objects: magazines hold less of what is
// large, and a slab at least one.
func TestStatsOfSizes(t *testing.T) {
	testkit.NeedsPacking(t)
	sizes[[1]byte](t, 57)
	sizes[[8]byte](t, 57)
	sizes[[24]*int](t, 57)
	sizes[[1000]byte](t, 57)
	sizes[[2000]byte](t, 32)
	sizes[[32 << 10]byte](t, 2)
	sizes[[40 << 10]byte](t, 1)
	sizes[[1 << 20]byte](t, 1)
}

func sizes[T any](t *testing.T, limit int) {
	t.Helper()
	c := slab.NewCache[T]()
	size := int(unsafe.Sizeof(*new(T)))
	p := c.Alloc()
	s := atRest(t, c)
	if s.ObjectSize != size || s.PerSlab < 1 || s.PerSlab*size > max(64<<10, size) || s.PerSlab < min(15, 32<<10/size) || s.Slabs == 0 {
		t.Errorf("%T: %+v", *p, s)
	}
	if slab.Limit(c) != limit {
		t.Errorf("%T: magazines of %d, want %d", *p, slab.Limit(c), limit)
	}
	// The slab fills its class of Go's heap, but for what is less than an object
	// and a header.
	taken := testkit.Taken(func() { runtime.KeepAlive(make([]T, s.PerSlab)) })
	if int(taken)-s.PerSlab*size >= max(size+16, 9) && size < 8<<10 {
		t.Errorf("%T: a slab of %d objects takes %d bytes of the heap", *p, s.PerSlab, taken)
	}
}

// Caches are listed in the order of their first use, with their numbers.
func TestCaches(t *testing.T) {
	var list []*slab.Cache[linked]
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("listed %d", i*7%20)
		list = append(list, slab.NewCache(slab.Config[linked]{Name: name}))
		want = append(want, name)
		for range i {
			list[i].Alloc()
		}
	}
	if got := listed("listed "); !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
	i := 0
	for s := range slab.Caches() {
		if i < len(want) && s.Name == want[i] {
			if s.InUse != i {
				t.Errorf("%d of %q are active, want %d", s.InUse, s.Name, i)
			}
			list[i].Free(list[i].Alloc()) // the body may use them
			i++
		}
	}
	for range slab.Caches() {
		break
	}
	runtime.KeepAlive(list)
}
