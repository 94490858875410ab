package track

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/stale"
)

// A Countdown says which of the releases of one owner are watched, and by whom. The zero
// Countdown is ready. It is for one goroutine at a time.
//
// A random number for each release would cost four nanoseconds, and a counter
// that all owners share a cache line that is written everywhere. So each owner
// counts down by itself, from a number that is drawn so that one release is as
// likely to be watched as any other, however many an owner has in its life: the
// numbers are distributed as the distances of such draws are, exponentially. There is
// one number for all who watch; who it was for is drawn when it is counted down.
//
// A rate that changes holds from the next number on, but for that of who watches each
// release.
type Countdown struct{ left uint32 }

// A Due says who watches a release: nobody, or one or both of these.
type Due uint8

const (
	Stale Due = 1 << iota // the finder of stale pointers
	Guard                 // the sampled guard
)

// each is not 0 if somebody watches each release. It is atomic; with a type of package
// atomic Due would not inline.
var each uint32

func init() {
	refresh := func() {
		n := uint32(0)
		if stale.Each() || guard.Each() {
			n = 1
		}
		atomic.StoreUint32(&each, n)
	}
	stale.OnAll(refresh)
	guard.Watch(func() {}, refresh)
	refresh()
}

// Due returns who watches the release that happens now, the guard only where it may
// guard the memory. It inlines, and costs a load of what is hardly ever written, and a
// decrement.
func (c *Countdown) Due(guarded bool) Due {
	if c.left > 1 && atomic.LoadUint32(&each) == 0 {
		c.left--
		return 0
	}
	return c.due(guarded)
}

// longest is the most releases after which rates are looked at again.
const longest = 1 << 16

//go:noinline
func (c *Countdown) due(guarded bool) (d Due) {
	of, step := stale.Every(), uint32(0)
	if guarded {
		step = guard.Stride()
	}
	if of == 1 {
		d |= Stale
	}
	if step == 1 {
		d |= Guard
	}
	if d != 0 {
		return d
	}
	chance := share(of) + share(step)
	ends := c.left == 1
	if c.left == 0 { // the first release
		ends = rand.Float64() < chance
	}
	distance := float64(longest)
	if chance > 0 {
		distance = min(-rand.ExpFloat64()/math.Log1p(-chance), math.MaxUint32-1)
	}
	c.left = 1 + uint32(distance)
	switch {
	case !ends || chance == 0:
		return 0
	case rand.Float64()*chance < share(of):
		return Stale
	case guard.Draw(uint64(step)) > 0:
		return Guard
	}
	return 0
}

// share returns the part of releases that one in n is.
func share(n uint32) float64 {
	if n == 0 {
		return 0
	}
	return 1 / float64(n)
}
