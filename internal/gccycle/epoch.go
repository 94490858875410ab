package gccycle

import (
	"sync"
	"sync/atomic"
)

// The number of the collections that allocators forget by. What was not used since the
// last collection but one costs the collector more than it saves: until then it is part
// of the heap that the collector has let grow anyway.
var epoch struct {
	n    atomic.Uint32
	once sync.Once
	self *counter
}

// A counter is what stands for the number with Watch, which must not be given a global
// variable (GC.md fact 15).
type counter struct{ n *atomic.Uint32 }

// Epoch returns a number that grows by one with each garbage collection that ends, and
// by two where memory is short (see [Pressure]), once somebody has called [Count]. It
// inlines, and costs a load of what is hardly ever written.
func Epoch() uint32 { return epoch.n.Load() }

// Count has collections counted from now on, and sees to it that they are. It is for slow
// paths: it costs what [Check] does.
func Count() {
	epoch.once.Do(func() {
		epoch.self = &counter{&epoch.n}
		Watch(epoch.self, (*counter).add)
	})
	Check()
}

// CountSome is [Count] for one in 64 of an owner's Resets, the first included, which are
// numbered from 1. It inlines.
func CountSome(reset uint64) {
	if reset%64 == 1 {
		Count()
	}
}

func (c *counter) add(near Pressure) {
	if near {
		c.n.Add(1)
	}
	c.n.Add(1)
}
