package pool

import "math/bits"

// Size classes of byte buffers: four between each power of two and the next, so
// that a buffer is at most a quarter larger than what was asked for.
//
//	64 80 96 112 128 160 192 224 256 320 … 32 MiB
const (
	smallestBits = 6
	largestBits  = 25
	smallest     = 1 << smallestBits
	largest      = 1 << largestBits
	numClasses   = 4*(largestBits-smallestBits) + 1
)

// classSize returns the bytes of a buffer of class i.
func classSize(i int) int { return (4 + i&3) << (uint(i)>>2 + smallestBits - 2) }

// classFor returns the smallest class of n bytes or more, of which there is one.
func classFor(n int) int { return classOf(max(n, smallest)-1) + 1 }

// classOf returns the largest class of n bytes or fewer, -1 for smallest-1.
func classOf(n int) int {
	e := bits.Len(uint(n)) // n = 1xx… in binary, of which the two x choose the class
	return 4*(e-1-smallestBits) + n>>(uint(e-3)&31)&3
}
