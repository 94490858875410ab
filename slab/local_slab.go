package slab

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// The memory of a Local. Objects are taken from the slab with the lowest address
// that has a free one, so that those with higher addresses have time to empty
// out. (Address-ordered first fit keeps the objects in use closer together than
// other orders do; see Wilson and others, Dynamic Storage Allocation, 1995.)

// A localSlab is a slab of a Local.
type localSlab struct {
	mem   unsafe.Pointer // a []T of n
	n     int
	free  []uint64 // bit set: the object rests here
	nfree int      // bits that are set
	word  int      // no bit is set before free[word]
}

// maxLocalSlab is the most bytes in a slab, unless all slabs together have more
// than 64 times that: then a 64th of those, so that there are a few hundred
// slabs at most and none is a large part of the whole.
const maxLocalSlab = 64 << 10

// addSlab adds a slab, as large as all there are within the bounds of
// maxLocalSlab. No object rests.
func (l *local) addSlab() {
	all := uintptr(l.out) * l.size
	n := chunk.Elems(min(all, max(maxLocalSlab, all/64)), l.size)
	s := localSlab{mem: l.make(n), n: n, nfree: n, free: make([]uint64, (n+63)/64)}
	for i := range s.free {
		s.free[i] = ^uint64(0)
	}
	if rest := n % 64; rest != 0 {
		s.free[len(s.free)-1] = 1<<rest - 1
	}
	sanitize.Withhold(s.mem, uintptr(n)*l.size)
	base := addressOf(s.mem)
	l.low, _ = slices.BinarySearch(l.bases, base)
	l.bases = slices.Insert(l.bases, l.low, base)
	l.slabs = slices.Insert(l.slabs, l.low, s)
	l.resting = n
}

// addressOf returns the address of an object, to compare it with others.
func addressOf(p unsafe.Pointer) uintptr {
	// SAFETY: GC.md fact 13: slabs are on the heap, which does not move; what is
	// elsewhere is in no slab, whatever its address.
	return uintptr(p)
}

// search returns the slab with the highest address that is not above a, or the
// first one. It has no branch that depends on a, of which the processor would
// guess every other one wrong: that takes twice as long.
func (l *local) search(a uintptr) int {
	k := 0
	for n := len(l.bases); n > 1; {
		half := n / 2
		_, above := bits.Sub(uint(a), uint(l.bases[k+half]), 0) // 1 if the slab is above a
		k += half & (int(above) - 1)
		n -= half
	}
	return k
}

// find returns the slab of p and the object's number there. The slab is -1 if p
// points to no object of this Local.
func (l *local) find(p unsafe.Pointer) (slab, object int) {
	if l.size == 0 {
		return 0, 0 // all pointers are equal
	}
	if len(l.slabs) == 0 {
		return -1, 0
	}
	a := addressOf(p)
	off := a - l.bases[l.last]
	if off >= uintptr(l.slabs[l.last].n)*l.size {
		l.last = l.search(a)
		off = a - l.bases[l.last]
	}
	i := l.slot(off)
	if i >= uintptr(l.slabs[l.last].n) || i*l.size != off {
		return -1, 0
	}
	return l.last, int(i)
}

// slot returns off / size, rounded down or, if that is no whole number, perhaps up, by a
// multiplication, which takes a third of the time of a division.
func (l *local) slot(off uintptr) uintptr {
	if l.size == 1 {
		return off
	}
	i, _ := bits.Mul64(uint64(off), l.recip)
	return uintptr(i)
}

// isOut reports whether an object that find has found is not in its slab. Those
// without size are counted instead.
func (l *local) isOut(slab, object int) bool {
	if l.size == 0 {
		return l.out > 0
	}
	return slab >= 0 && l.slabs[slab].free[object/64]&(1<<(object%64)) == 0
}

// rest puts an object that is out back into its slab.
func (l *local) rest(slab, object int) {
	l.out--
	l.resting++
	if l.size == 0 {
		return
	}
	s := &l.slabs[slab]
	s.free[object/64] |= 1 << (object % 64)
	s.nfree++
	s.word = min(s.word, object/64)
	l.low = min(l.low, slab)
}

// take fills dst with resting objects, of which there are enough: those with the
// lowest addresses, and the very lowest last, which is where Alloc begins.
func (l *local) take(dst []unsafe.Pointer) {
	l.out += len(dst)
	l.resting -= len(dst)
	if l.size == 0 {
		for i := range dst {
			dst[i] = unsafe.Pointer(&nothing)
		}
		return
	}
	for {
		if dst = l.slabs[l.low].take(dst, l.size); len(dst) == 0 {
			return
		}
		l.low++
	}
}

// take fills dst from its end, and returns the part for which s has no objects.
func (s *localSlab) take(dst []unsafe.Pointer, size uintptr) []unsafe.Pointer {
	n := len(dst)
	for s.nfree > 0 && n > 0 {
		w := s.free[s.word]
		for ; w != 0 && n > 0; w &= w - 1 {
			n--
			s.nfree--
			// SAFETY: GC.md fact 1: bits are set for objects of the slab only.
			dst[n] = unsafe.Add(s.mem, uintptr(s.word*64+bits.TrailingZeros64(w))*size)
		}
		if s.free[s.word] = w; w == 0 {
			s.word++
		}
	}
	return dst[:n]
}

// drop lets go of all slabs whose objects all rest there.
func (l *local) drop() {
	if l.size == 0 {
		l.resting = 0
	}
	r := track.Drop(l.owner())
	l.slabs = slices.DeleteFunc(l.slabs, func(s localSlab) bool {
		if s.nfree < s.n {
			return false
		}
		l.resting -= s.nfree
		if l.watch.Dropped.Due(false) != 0 {
			r.Add(l.typ.String(), s.mem, s.n*int(l.size))
		}
		return true
	})
	r.End()
	l.bases = l.bases[:0]
	for _, s := range l.slabs {
		l.bases = append(l.bases, addressOf(s.mem))
	}
	l.low, l.last = 0, 0
}
