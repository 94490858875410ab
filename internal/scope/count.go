package scope

import "sync/atomic"

// A Count is of those who use a thing that ends with the last of them: of a
// connection, the connection itself and its requests. It may be used from any
// goroutine. The zero Count is of a thing that has ended.
type Count struct{ n atomic.Int64 }

// Begin counts the first user.
func (c *Count) Begin() { c.n.Store(1) }

// Join counts one more and reports true, unless the thing has ended.
func (c *Count) Join() bool {
	for {
		n := c.n.Load()
		if n == 0 {
			return false
		}
		if c.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Leave counts one less, and reports whether that was the last.
func (c *Count) Leave() (last bool) { return c.n.Add(-1) == 0 }
