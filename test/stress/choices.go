package stress

import "math/bits"

// choices are random numbers that follow from a state (splitmix64). A worker begins
// each step with a state of its own, so that no step depends on how many numbers
// the one before drew.
type choices struct{ state uint64 }

func (c *choices) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	return mix(c.state)
}

// below returns a number from 0 to n-1.
func (c *choices) below(n int) int {
	hi, _ := bits.Mul64(c.next(), uint64(n))
	return int(hi)
}

// oneIn reports true once in n times.
func (c *choices) oneIn(n int) bool { return c.below(n) == 0 }

// mix is the finalizer of splitmix64: it makes numbers that look random of numbers
// that follow each other.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
