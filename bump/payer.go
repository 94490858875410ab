package bump

import (
	"fmt"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/leak"
)

// What memory contexts need of an arena and nobody else: to pay for its chunks, and to
// leave them to the garbage collector.
func init() {
	account.NewBump = func(name string, p account.Payer, made *leak.Site) any {
		a := NewArena(Config{Name: name})
		a.payer, a.made = p, made
		return a
	}
	account.LeaveBump = func(a any) { a.(*Arena).restart() }
	account.EndBump = func(a any) { a.(*Arena).free() }
}

// checkUnowned panics if the arena belongs to a memory context.
func (a *Arena) checkUnowned(op string) {
	if a.payer != nil {
		panic(fmt.Sprintf("bump: %s of %s, which belongs to memory context %s and ends with it", op, a.title(), a.payer.Owner()))
	}
}

// restart is Reset that uses none of the memory again.
func (a *Arena) restart() {
	a.checkUsable("Reset")
	a.resets++
	a.let()
	a.checkInvariants()
}

// let lets go of all memory, which stays as it is for as long as anything refers to it.
func (a *Arena) let() {
	if a.root != nil {
		a.high = max(a.high, a.inUse())
	}
	if check.Enabled {
		a.verify()
	}
	a.credit()
	a.root, a.open = nil, block{}
	a.base, a.left, a.last = nil, 0, 0
}
