package slab_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A batch is filled with different zero objects, whatever its length and whatever
// lies in the magazines.
func TestAllocBatch(t *testing.T) {
	c := slab.NewCache[linked]()
	held := map[*linked]bool{}
	for _, n := range []int{0, 1, 2, 56, 57, 58, 113, 114, 115, 1000, 5, 0} {
		dst := make([]*linked, n+1)
		last := &linked{}
		for i := range dst {
			dst[i] = last // is overwritten
		}
		if err := c.AllocBatch(dst[:n]); err != nil {
			t.Fatal(err)
		}
		for _, p := range dst[:n] {
			if held[p] || p == last || *p != (linked{}) {
				t.Fatalf("batch of %d: %p, held before %v, %+v", n, p, held[p], *p)
			}
			held[p] = true
			p.next = p
		}
		if dst[n] != last {
			t.Errorf("batch of %d: wrote behind the slice", n)
		}
		if s := atRest(t, c); s.InUse != len(held) {
			t.Fatalf("batch of %d: %+v, want %d active", n, s, len(held))
		}
		half := dst[:n/2]
		for _, p := range half {
			delete(held, p)
		}
		c.FreeBatch(half)
		for i, p := range half {
			if p != nil {
				t.Errorf("element %d was not set to nil", i)
			}
		}
		if s := atRest(t, c); s.InUse != len(held) {
			t.Fatalf("half a batch of %d freed: %+v, want %d active", n, s, len(held))
		}
		c.Free(c.Alloc())
	}
}

// A batch is all or nothing where there is a capacity.
func TestAllocBatchExhausted(t *testing.T) {
	const capacity = 100
	c := slab.NewCache(slab.Config[linked]{Name: "few", Capacity: capacity})
	held := make([]*linked, 60)
	if err := c.AllocBatch(held); err != nil {
		t.Fatal(err)
	}
	mark := new(linked)
	dst := []*linked{mark, 40: mark}
	err := c.AllocBatch(dst)
	const want = `slab: capacity reached: cache "few", 60 of 100 objects in use, 41 more wanted`
	if !errors.Is(err, slab.ErrExhausted) || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if dst[0] != mark || dst[40] != mark || dst[1] != nil {
		t.Error("the slice was changed")
	}
	if err := c.AllocBatch(nil); err != nil {
		t.Error(err)
	}
	exhaust(t, c, 40)
	if err := c.AllocBatch(dst[:40]); err != nil {
		t.Error(err)
	}
	if err := c.AllocBatch(nil); err != nil {
		t.Errorf("nothing from an exhausted cache: %v", err)
	}
	for name, alloc := range map[string]func() error{
		"TryAlloc":   func() error { _, err := c.TryAlloc(); return err },
		"AllocBatch": func() error { return c.AllocBatch(make([]*linked, 1)) },
		"Reserve":    func() error { _, err := c.Reserve(1); return err },
		"Alloc":      func() error { err, _ := testkit.Panic(t, func() { c.Alloc() }).(error); return err },
	} {
		const want = `slab: capacity reached: cache "few", 100 of 100 objects in use, 1 more wanted`
		if err := alloc(); !errors.Is(err, slab.ErrExhausted) || err.Error() != want {
			t.Errorf("%s: error %q, want %q", name, err, want)
		}
	}
	if s := atRest(t, c); s.InUse != capacity {
		t.Errorf("%+v", s)
	}
}

// A reservation holds its objects against all others, until they are taken or it
// is closed.
func TestReserve(t *testing.T) {
	c := slab.NewCache(slab.Config[linked]{Name: "r", Capacity: 10})
	r, err := c.Reserve(4)
	if err != nil || r.Len() != 4 {
		t.Fatal(err, r.Len())
	}
	for range 6 {
		c.Alloc()
	}
	if _, err := c.TryAlloc(); !errors.Is(err, slab.ErrExhausted) {
		t.Errorf("the reserved objects were handed out: %v", err)
	}
	seen := map[*linked]bool{}
	for i := range 3 {
		p := r.Take()
		if seen[p] || *p != (linked{}) {
			t.Errorf("%p, seen before %v, %+v", p, seen[p], *p)
		}
		seen[p] = true
		p.key = i
		if n := r.Len(); n != 3-i {
			t.Errorf("%d can be taken, want %d", n, 3-i)
		}
	}
	if s := atRest(t, c); s.InUse != 10 {
		t.Errorf("%+v", s)
	}
	for range 3 { // the second time nothing is left to do
		r.Close()
		if s := atRest(t, c); s.InUse != 9 || r.Len() != 0 {
			t.Errorf("after Close %d can be taken, %+v", r.Len(), s)
		}
	}
	for range 3 {
		testkit.PanicText(t, `slab: Take from a closed reservation of cache "r"`, func() { r.Take() })
		r.Close()
	}
	exhaust(t, c, 1)
	for p := range seen {
		c.Free(p)
	}
	exhaust(t, c, 4)
}

// A reservation holds on to nothing that was taken from it.
func TestReservationLetsGo(t *testing.T) {
	var census testkit.Census
	c := slab.NewCache[linked]()
	r, err := c.Reserve(100)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		c.Free(testkit.Enroll(&census, r.Take()))
	}
	c.Trim()
	testkit.CollectGarbage()
	if n := census.Alive(); n != 0 {
		t.Errorf("%d objects of slabs that were given back live", n)
	}
	runtime.KeepAlive(r)
}

func TestReserveAllTaken(t *testing.T) {
	c := slab.NewCache(slab.Config[linked]{Capacity: 10})
	for _, n := range []int{0, 1, 3} {
		r, err := c.Reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			c.Free(r.Take())
		}
		text := fmt.Sprintf("slab: Take from a reservation of a cache without a name whose %d objects are all taken", n)
		testkit.PanicText(t, text, func() { r.Take() })
		testkit.PanicText(t, text, func() { r.Take() })
		if r.Len() != 0 {
			t.Errorf("%d can be taken", r.Len())
		}
		r.Close()
		testkit.PanicText(t, "slab: Take from a closed reservation of a cache without a name", func() { r.Take() })
		exhaust(t, c, 10)
	}
}

// A number that no memory could hold is refused, and one beyond the capacity is
// before memory is taken for it.
func TestReserveTooMany(t *testing.T) {
	var c slab.Cache[linked]
	var e slab.Cache[struct{}]
	tooMany := int(chunk.MaxBytes/unsafe.Sizeof(linked{})) + 1
	for _, n := range []int{math.MaxInt, tooMany, 1 << (bits.UintSize - 3)} {
		want := fmt.Sprintf("slab: capacity reached: Reserve(%d) of a cache without a name: no address space has room for that", n)
		if r, err := c.Reserve(n); r != nil || !errors.Is(err, slab.ErrExhausted) || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
		if r, err := e.Reserve(max(n, 1<<(bits.UintSize-3))); r != nil || !errors.Is(err, slab.ErrExhausted) {
			t.Errorf("without size: %v", err)
		}
	}
	if s := atRest(t, &c); s.Objects != 0 {
		t.Errorf("%+v", s)
	}
	few := slab.NewCache(slab.Config[linked]{Capacity: 10})
	n := 1 << (bits.UintSize * 5 / 8) // pointers to them would not fit
	for range 2 {
		if r, err := few.Reserve(n); r != nil || !errors.Is(err, slab.ErrExhausted) {
			t.Errorf("Reserve(%d): %v", n, err)
		}
	}
	exhaust(t, few, 10)
}

// Many goroutines take from a reservation, while it is closed: each object is
// taken by one of them or given back.
func TestReserveConcurrently(t *testing.T) {
	const n, goroutines, capacity = 200, 8, 500
	c := slab.NewCache(slab.Config[owned]{Capacity: capacity})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for round := range 100 {
		r, err := c.Reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		var taken, refused atomic.Int64
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() {
					if v := recover(); v != nil {
						refused.Add(1)
					}
				}()
				if round%2 == 1 && g == 0 {
					runtime.Gosched()
					r.Close()
					r.Close()
					return
				}
				for range n/(goroutines-1) + 1 { // too many
					p := r.Take()
					p.take(t, int64(g+1))
					taken.Add(1)
					runtime.Gosched()
					p.leave(t, int64(g+1))
					c.Free(p)
				}
			}()
		}
		wg.Wait()
		if round%2 == 0 && (taken.Load() != n || refused.Load() == 0) {
			t.Errorf("%d of %d taken, %d refused", taken.Load(), n, refused.Load())
		}
		r.Close()
		if s := c.Stats(); s.InUse != 0 {
			atRest(t, c)
			t.Fatalf("round %d: %+v", round, s)
		}
	}
	exhaust(t, c, capacity)
}

// A reservation that is closed while a mistake is found gives everything back.
func TestCloseWithMistake(t *testing.T) {
	testkit.NeedsReuse(t)
	onOneP(t)
	quiet(t)
	for name, conf := range map[string]slab.Config[cookie]{
		"plain":    slab.Config[cookie]{},
		"capacity": {Capacity: 1000},
	} {
		c := slab.NewCache[cookie](conf)
		r, err := c.Reserve(500)
		if err != nil {
			t.Fatal(err)
		}
		p := c.Alloc()
		c.Free(p)
		c.Free(p)
		text := fmt.Sprintf(second, place(p), "a cache without a name")
		testkit.PanicText(t, text, func() {
			r.Close()
			if !magazine.Pinned {
				c.Trim() // a goroutine whose stack moved has another cell
			}
		})
		if s := atRest(t, c); s.InUse != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		r.Close()
		intact(t, c, 0)
	}
}
