package pool

import "math/bits"

// An idleSet is the set of the addresses of a depot's idle objects. Each object that
// comes to the depot is entered, and so an object that is put twice is noticed.
//
// It is a hash table with linear probing, in which a removal moves up what
// stands behind, so that there are no graves. (A map of Go's takes five times as
// long for the addresses of a magazine.)
type idleSet struct {
	slots []uintptr // 0: free; a power of two of them
	n     int       // those that are not free, at most three quarters
	shift uint8     // of a hash, which makes it an index
}

// golden is the golden ratio's part behind the point: multiples of it spread well
// over their upper bits (Fibonacci hashing).
const golden = uintptr(0x9E3779B97F4A7C15 >> (64 - bits.UintSize))

// leastSlots is the length of a small table.
const leastSlots = 64

func (s *idleSet) home(p uintptr) uintptr { return p * golden >> (s.shift & (bits.UintSize - 1)) }

// find returns the slot of an address, or the free one where it would go.
func (s *idleSet) find(p uintptr) (i uintptr, found bool) {
	mask := uintptr(len(s.slots) - 1)
	for i = s.home(p) & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i] == p {
			return i, true
		}
	}
	return i, false
}

// has reports whether an address is there.
func (s *idleSet) has(p uintptr) bool {
	if s.n == 0 {
		return false
	}
	_, found := s.find(p)
	return found
}

// add enters an address. It reports false if it is there already.
func (s *idleSet) add(p uintptr) bool {
	if s.n >= len(s.slots)/4*3 {
		s.resize(max(leastSlots, 2*len(s.slots)))
	}
	i, found := s.find(p)
	if found {
		return false
	}
	s.slots[i] = p
	s.n++
	return true
}

// remove takes an address out, which must be there.
func (s *idleSet) remove(p uintptr) {
	slots := s.slots
	mask := uintptr(len(slots) - 1)
	i, _ := s.find(p)
	s.n--
	for j := i; ; {
		slots[i] = 0
		// What stands behind moves to i, if that is not before its home.
		for {
			j = (j + 1) & mask
			q := slots[j]
			if q == 0 {
				return
			}
			if (j-s.home(q))&mask >= (j-i)&mask {
				slots[i] = q
				i = j
				break
			}
		}
	}
}

// fit makes the table small again after many removals.
func (s *idleSet) fit() {
	n := leastSlots
	for n/4*3 < 2*s.n {
		n *= 2
	}
	switch {
	case s.n == 0:
		*s = idleSet{}
	case n < len(s.slots):
		s.resize(n)
	}
}

func (s *idleSet) resize(n int) {
	old := s.slots
	s.slots = make([]uintptr, n)
	s.shift = uint8(bits.UintSize - bits.Len(uint(n-1)))
	for _, p := range old {
		if p == 0 {
			continue
		}
		i, _ := s.find(p)
		s.slots[i] = p
	}
}
