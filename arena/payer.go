package arena

import (
	"fmt"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
)

// What memory contexts need of an arena and nobody else: to pay for its chunks, to
// leave its memory to the garbage collector without ending it, and to know what is
// in it.
func init() {
	account.Attach = func(a any, p account.Payer, made *leak.Site) { a.(*Arena).attach(p, made) }
	account.Configure = func(a any, firstChunk, retain int) {
		r := a.(*Arena).makeRare()
		r.first, r.retain = firstChunk, retain
	}
	account.Leave = func(a any) { a.(*Arena).leave() }
	account.Holds = func(a any, texts []string) bool { return a.(*Arena).holds(texts) }
}

// attach makes p pay for the chunks instead of who did.
func (a *Arena) attach(p account.Payer, made *leak.Site) {
	r := a.makeRare()
	if r.payer != nil {
		r.payer.Credit(a.reserved, int(a.chunks))
		r.payer = nil
	}
	if p == nil {
		return
	}
	r.made = made
	if a.chunks > 0 && !p.Charge(a.reserved, int(a.chunks)) {
		a.trim(0)
		p.Charge(a.reserved, int(a.chunks)) // those of values without a size stay
	}
	r.payer = p
}

// checkUnowned panics if the arena belongs to a memory context. That would hand it out
// again when somebody else has it.
func (a *Arena) checkUnowned(op string) {
	if a.seldom().payer != nil {
		a.refuseOwned(op)
	}
}

func (a *Arena) refuseOwned(op string) {
	panic(fmt.Sprintf("arena: %s of %s, which belongs to memory context %s and ends with it", op, a.title(), a.rare.payer.Owner()))
}

// leave is Reset that keeps no memory.
func (a *Arena) leave() {
	a.checkUsable("Reset")
	a.runCallbacks(0, "Reset")
	a.noteHighWater()
	a.resets++
	for l := a.lanes; l != nil; l = l.next {
		l.leave()
	}
	a.listed, a.uses = nil, 0
	a.endMarks()
}
