package slab_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/slab"
)

// A model of an index: which slab begins where.
type places struct {
	bytes uintptr
	slabs map[uintptr]*slab.Slab
}

// find returns the slab that p lies in.
func (m places) find(p uintptr) *slab.Slab {
	for base, s := range m.slabs {
		if p-base < m.bytes {
			return s
		}
	}
	return nil
}

// free reports whether a slab may begin at base.
func (m places) free(base uintptr) bool {
	for b := range m.slabs {
		if base-b < m.bytes || b-base < m.bytes {
			return false
		}
	}
	return true
}

// Whatever is added and removed, and wherever it lies, an index finds what its
// model does.
func TestIndexAgainstModel(t *testing.T) {
	const top = ^uintptr(0)
	for _, bytes := range []uintptr{8184, 8192, 8193, 12345, 65536, 1 << 20, 3 << 20} {
		m := places{bytes, map[uintptr]*slab.Slab{}}
		x := slab.NewIndex(bytes)
		var bases []uintptr
		check := func(p uintptr) {
			t.Helper()
			if got, want := x.Find(p), m.find(p); got != want {
				t.Fatalf("slabs of %d bytes: %#x is found in %+v, want %+v", bytes, p, got, want)
			}
		}
		check(0)
		check(top)
		regions := []uintptr{8 << 10, 0x7f00_0000 & (top >> 1), top - 200*bytes - 8192 + 1}
		for i := range 2000 {
			switch {
			case rand.IntN(5) < 3 && len(bases) < 60:
				// Slabs that touch each other, and begin anywhere.
				base := regions[rand.IntN(len(regions))] + uintptr(rand.Uint64N(100*uint64(bytes)))
				if rand.IntN(2) == 0 {
					base &^= 8191
				}
				if len(bases) > 0 && rand.IntN(2) == 0 {
					base = bases[rand.IntN(len(bases))] + bytes
				}
				if base+bytes < base || !m.free(base) {
					continue
				}
				m.slabs[base] = x.Add(base)
				bases = append(bases, base)
			case len(bases) > 0:
				k := rand.IntN(len(bases))
				x.Remove(m.slabs[bases[k]])
				delete(m.slabs, bases[k])
				check(bases[k])
				bases = slices.Delete(bases, k, k+1)
			}
			for base := range m.slabs {
				check(base)
				check(base - 1)
				check(base + bytes - 1)
				check(base + bytes)
				check(base + bytes/2)
				if i%16 != 0 {
					break
				}
			}
			check(uintptr(rand.Uint64()))
			check(0)
			check(top)
			live, used, all := x.Entries()
			if live < len(bases) || live > 2*len(bases) || live > used || 2*used > all || bits.OnesCount(uint(all)) > 1 {
				t.Fatalf("%d slabs have %d entries of %d in use of %d", len(bases), live, used, all)
			}
		}
		if _, _, all := x.Entries(); all > 1024 {
			t.Errorf("the table has grown to %d entries for 60 slabs at most: dead ones stay", all)
		}
	}
}

// A search that begins at the end of the table goes on at its start, and over
// dead entries.
func TestIndexWraps(t *testing.T) {
	const bytes, n = 8192, 8 // entries in the first table
	x := slab.NewIndex(bytes)
	var bases []uintptr // all of them begin at the last place
	for base := uintptr(2 * bytes); len(bases) < 3; base += bytes {
		if x.Home(base, n) == n-1 {
			bases = append(bases, base)
		}
	}
	found := func(want ...*slab.Slab) {
		t.Helper()
		for i, base := range bases {
			if got := x.Find(base); got != want[i] {
				t.Errorf("slab %d is found as %+v, want %+v", i, got, want[i])
			}
		}
	}
	a, b := x.Add(bases[0]), x.Add(bases[1])
	found(a, b, nil)
	x.Remove(a)
	found(nil, b, nil)
	c := x.Add(bases[2]) // takes the dead entry
	found(nil, b, c)
	if live, used, all := x.Entries(); live != 2 || used != 2 || all != n {
		t.Errorf("%d live of %d used of %d entries", live, used, all)
	}
	x.Remove(b)
	found(nil, nil, c)
	x.Remove(c)
	found(nil, nil, nil)
}

// Two slabs in a block are both found.
func TestIndexSharedBlock(t *testing.T) {
	const bytes = 5000 // a block has 8192
	x := slab.NewIndex(bytes)
	a, b := x.Add(8192+100), x.Add(8192+5100) // b reaches into the next
	for p, want := range map[uintptr]*slab.Slab{
		8192: nil, 8192 + 99: nil, 8192 + 100: a, 8192 + 5099: a, 8192 + 5100: b, 2 * 8192: b, 8192 + 10099: b, 8192 + 10100: nil,
	} {
		if got := x.Find(p); got != want {
			t.Errorf("%#x: found %+v, want %+v", p, got, want)
		}
	}
	x.Remove(a)
	if x.Find(8192+100) != nil || x.Find(8192+5100) != b || x.Find(2*8192) != b {
		t.Error("removing one of two")
	}
}

// What is in the index all the time is found all the time, while others come
// and go and the table is made anew.
func TestIndexReaders(t *testing.T) {
	const bytes = 8184
	x := slab.NewIndex(bytes)
	base := func(i int) uintptr { return 1<<20 + uintptr(i)*2*8192 }
	stay := map[int]*slab.Slab{}
	for i := 0; i < 100; i += 5 {
		stay[i] = x.Add(base(i))
	}
	var end atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !end.Load() {
				for i := range 100 {
					p := base(i) + uintptr(rand.IntN(bytes))
					got := x.Find(p)
					if want := stay[i]; want != nil && got != want {
						t.Errorf("slab %d is found as %+v, want %+v", i, got, want)
						return
					}
					if x.Find(base(i)+bytes) != nil || x.Find(base(i)-1) != nil {
						t.Error("found between slabs")
						return
					}
				}
			}
		}()
	}
	n := 300
	if testing.Short() {
		n = 50
	}
	for range n {
		var added []*slab.Slab
		for i := range 100 {
			if i%5 != 0 {
				added = append(added, x.Add(base(i)))
			}
		}
		for _, s := range added {
			x.Remove(s)
		}
	}
	end.Store(true)
	wg.Wait()
}

// The slot of an address is its offset divided by the size, and the inside of an
// object is the start of none.
func TestSlot(t *testing.T) {
	list := []uintptr{4096, 5000, 8191, 8192, 10000, 32<<10 - 8, 65535, 65536, 70 << 10, 1<<20 - 1, 1 << 20}
	for size := uintptr(1); size < 3000; size++ {
		if testing.Short() && size > 300 && size%7 != 0 {
			continue
		}
		list = append(list, size)
	}
	for _, size := range list {
		checkSlots(t, slab.NewSlabs(size, true), size)
		checkSlots(t, slab.NewSlabs(size, false), size)
	}
}

func checkSlots(t *testing.T, s *slab.Slabs, size uintptr) {
	n := s.PerSlab()
	if n < 1 || s.Bytes() != uintptr(n)*size {
		t.Fatalf("size %d: %d objects in %d bytes", size, n, s.Bytes())
	}
	check := func(off uintptr) {
		i, start := s.Slot(off)
		if start != (off%size == 0) || start && i != int(off/size) || i < 0 || i >= n {
			t.Fatalf("size %d: offset %d is in slot %d, at its start %v", size, off, i, start)
		}
	}
	for i := range uintptr(n) {
		check(i * size)
		check(i*size + size - 1)
		check(i*size + size/2)
	}
	for range 20 {
		check(uintptr(rand.Uint64N(uint64(s.Bytes()))))
	}
}

// Sizes near the end of the address space make slabs of one object.
func TestSlabsOfHugeObjects(t *testing.T) {
	for shift := 24; shift < bits.UintSize-14; shift++ {
		for _, size := range []uintptr{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			for _, pointers := range []bool{true, false} {
				s := slab.NewSlabs(size, pointers)
				if s.PerSlab() != 1 {
					t.Errorf("%d objects of %d bytes in a slab", s.PerSlab(), size)
				}
				checkSlots(t, s, size)
			}
		}
	}
}
