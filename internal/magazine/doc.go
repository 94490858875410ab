// Package magazine keeps objects close to the processor that will ask for them
// next. It is what caches and pools share: a [Set] has, for each P (a processor
// of Go's scheduler), two [Magazine]s of objects, from which and to which the
// goroutine that runs on that P pops and pushes without a lock and without an
// atomic instruction. The idea is Bonwick's and Adams' (Magazines and Vmem,
// USENIX 2001).
//
// # Two magazines
//
// A P that runs out of objects, or of room, exchanges a whole magazine with its
// owner's depot, so that the price of the lock there is shared by [Rounds]
// operations. It has two, the current and the previous, so that a program which
// allocates one object and frees one at the border between two magazines does
// not exchange at every step: the previous one is full or empty in the right
// way, and the two swap places.
//
// # Whose turn it is
//
// [Enter] pins the goroutine to its P with the runtime's procPin: it is not
// preempted before [Cell.Leave], so no other goroutine can use that P's cell.
// Between the two there must be nothing that blocks, panics or calls back: they
// surround a Pop or a Push. A fast path looks like this, written out because
// every step inlines and their sum does not. (In a generic function they inline
// only if some function of the same package that is not generic calls them, too:
// GC.md fact 20.)
//
//	pid := magazine.Enter()
//	if t := set.Table(); t != nil && t.Has(pid) {
//		if c := t.Cell(pid); c.CanPop() {
//			p := c.Pop()
//			c.Leave()
//			return p
//		} else {
//			c.Leave()
//		}
//	} else {
//		magazine.Exit()
//	}
//	return slow()
//
// Another goroutine must not touch a cell it is not pinned to. What if a P goes
// idle, with objects in its magazines that somebody wants back? [Set.Retire]
// puts a new table of empty cells into place. Whoever is pinned may still be at
// work in the old one, so its magazines may be taken only after each P has left:
// after a stop of the world that began later than the exchange, since a pinned
// goroutine cannot be stopped. This is the grace period of read-copy-update, and
// every garbage collection has one for free ([Set.Settle]); [Set.Reclaim] asks
// for one at once.
//
// # Without procPin
//
// The link to the runtime lives in pin.go, for a closed range of Go versions.
// Outside of it, and with -tags haven_nolinkname, a cell has a mutex instead,
// and goroutines choose their cell by the address of their stack. Everything
// else is the same.
//
// # The race detector
//
// It does not see that a P is a lock, so the code that touches cells is hidden
// from it (go:norace), and [Release] and [Acquire] tell it the one thing that
// matters: what happened before an object was put happened before it was got.
// The same is said of the magazines that go into a cell and come out of it. An
// owner that puts a magazine of objects into a cell says it of each object.
// So it reports no race that is not there, and reports a user who writes to an
// object after giving it back.
package magazine
