package track

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// Idle is what was put into a pool and waits in the check build before the pool may hand
// it out again. The zero Idle is ready.
type Idle struct{ only check.Only[check.Idle] }

// May reports whether the object of l may be put; it reports a mistake.
func May(l check.Loan) bool { return raise(l.Check()) }

// Put takes down that the object of l is idle from now on, and returns what is to be
// poisoned; or it reports a mistake and returns nil.
func (k *Idle) Put(l check.Loan, header unsafe.Pointer) *check.Released {
	what, bad := k.only.Get().Put(l, header)
	raise(bad)
	return what
}

// Wait poisons what was Put and is zero, and has it wait.
func (k *Idle) Wait(x check.Waiter) { k.only.Get().Wait(x) }

// Leave has go back what has waited long enough, or more than so many objects or bytes, or
// all.
func (k *Idle) Leave(all bool, objects, bytes int) {
	for !raise(k.only.Get().Leave(all, objects, bytes)) {
	}
}

// Waiting returns how many objects wait, and what they hold: none but in the check build.
func (k *Idle) Waiting() (objects, bytes int) {
	if check.Enabled {
		return k.only.Get().Waiting()
	}
	return 0, 0
}
