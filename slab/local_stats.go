package slab

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
)

// LocalStats describes a [Local]. Its numbers add up:
//
//	Objects = InUse + Cached + Resting
type LocalStats struct {
	Type       string // as %v prints it
	ObjectSize int    // bytes
	InUse      int    // objects in use
	Cached     int    // free objects in the magazine
	Resting    int    // free objects in their slabs
	Objects    int    // objects in all slabs
	Slabs      int
	Bytes      int // of all slabs
}

// Stats returns the numbers of the Local in constant time.
func (l *Local[T]) Stats() LocalStats {
	return l.core.bind((*T)(nil), unsafe.Pointer(l)).stats()
}

func (l *local) stats() LocalStats {
	free := l.front.i + l.watch.Waiting() // what waits is free
	s := LocalStats{
		Type:       l.typ.String(),
		ObjectSize: int(l.size),
		InUse:      l.out - free,
		Cached:     free,
		Resting:    l.resting,
		Objects:    l.out + l.resting,
		Slabs:      len(l.slabs),
	}
	s.Bytes = s.Objects * s.ObjectSize
	return s
}

// String returns the numbers in one line.
func (s LocalStats) String() string {
	return fmt.Sprintf("Local of %s: %d of %s of %s in use, %d cached, %s, %s", s.Type, s.InUse, account.Count(s.Objects, "object"),
		account.Count(s.ObjectSize, "byte"), s.Cached, account.Count(s.Slabs, "slab"), account.Count(s.Bytes, "byte"))
}

// String returns the numbers of the Local in one line.
func (l *Local[T]) String() string { return l.core.bind((*T)(nil), unsafe.Pointer(l)).String() }

func (l *local) String() string { return l.stats().String() }

// checkInvariants verifies the equations of the type's comment, in the check
// build only.
func (l *local) checkInvariants() {
	if !check.Enabled {
		return
	}
	if l.front.i > l.out || l.front.full != min(len(l.front.mag), l.out+1) || l.out < 0 || l.resting < 0 {
		panic(fmt.Sprintf("slab: %d of the %d objects that are out are in a magazine of %d: %v", l.front.i, l.out, len(l.front.mag), l))
	}
	objects, resting := 0, 0
	for k := range l.slabs {
		s := &l.slabs[k]
		n, word := 0, len(s.free)
		for i := range s.free {
			if n += bits.OnesCount64(s.free[i]); s.free[i] != 0 {
				word = min(word, i)
			}
		}
		if n != s.nfree || n > 0 && (word < s.word || k < l.low) || k > 0 && l.bases[k] <= l.bases[k-1] || l.bases[k] != addressOf(s.mem) {
			panic(fmt.Sprintf("slab: slab %d of %d, %d objects, %d free: %v", k, len(l.slabs), s.n, n, l))
		}
		objects += s.n
		resting += n
	}
	if l.size > 0 && (objects != l.out+l.resting || resting != l.resting) {
		panic(fmt.Sprintf("slab: %d objects of which %d rest: %v", objects, resting, l))
	}
}
