package check

import (
	"sync/atomic"

	"github.com/haven-mem/haven/internal/magazine"
)

// A Busy finds that two goroutines use at once what is for one at a time. The zero
// Busy is ready, and a nil one finds nothing. It finds operations that overlap, and reports the first only; one
// goroutine after another is right, and looks so. Nothing that calls back into the
// program may be in between Enter and Exit, as that may use the same thing. It finds
// copies of what has it, too.
//
// With -race there is none: the detector finds unsynchronised use that does not
// overlap as well, and must not take the atomic operations here for synchronisation.
type Busy struct {
	inside atomic.Uint32 // the site of the operation in progress, plus one
	told   atomic.Bool
	self   *Busy // where it was used first
}

// Enter begins an operation at a site, on what owner returns the name of.
func (b *Busy) Enter(site Site, owner func() string) {
	if b == nil || magazine.Race {
		return
	}
	b.Original(owner)
	if !b.inside.CompareAndSwap(0, uint32(site)+1) {
		b.overlap(owner)
	}
}

// Begin is Enter by the caller's caller. It returns b, whose Exit is to be called.
func (b *Busy) Begin(owner func() string) *Busy {
	if b != nil {
		b.Enter(Here(4), owner)
	}
	return b
}

// Original reports it if what has b is a copy of what was used before.
func (b *Busy) Original(owner func() string) {
	if b == nil || magazine.Race {
		return
	}
	switch b.self {
	case b:
	case nil:
		b.self = b
	default:
		Raise(&Report{
			What:   "use of a copy",
			Detail: "this is a copy of " + owner() + ", made after the first use of that; pass a pointer",
			Now:    Release().String(),
		})
	}
}

func (b *Busy) overlap(owner func() string) {
	other := b.inside.Load()
	if other == 0 || b.told.Swap(true) { // it has just ended
		return
	}
	Raise(&Report{
		What:   "use by two goroutines at once",
		Detail: owner() + " is for one at a time",
		Now:    Release().String(),
		Other:  Site(other - 1).String(),
	})
}

// Exit ends the operation.
func (b *Busy) Exit() {
	if b != nil {
		b.inside.Store(0)
	}
}
