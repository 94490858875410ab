package memctx

import (
	"cmp"
	"math"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
)

// Limits. Each context has a ledger, which pays for the chunks of its arena. A
// ledger that has a limit or sets memory aside is a bound one, and also
// counts what all ledgers below it took, so that the limit holds for the
// subtree. A ledger passes on what it takes to the next bound one above it, and
// to no other: where there are no limits, nothing is shared, and however deep the
// tree is, a chunk costs as many steps as there are limits above it.
//
//	total  = bytes of the own arena + what all ledgers below passed on
//	passed = max(total, reserve)
//
// A ledger is locked while what it takes is passed on, so that the sums are
// exact at all times and nobody sees a limit exceeded. Locks are taken upwards.
type ledger struct {
	ctx     *Context
	acct    sync.Mutex
	up      *ledger // the next bound ledger above; changed by SetParent until ctx is gone, with mu and acct held
	limit   int     // 0: none
	isBound bool    // has a limit or sets memory aside
	reserve int     // taken from up whether it is used or not; 0 at the context's end
	total   int
	claim   *claim // of an abandoned context

	claimed atomic.Bool // there are, or were, claims to this ledger

	bytes, chunks, peak atomic.Int64 // of the own arena
	totalPeak           atomic.Int64 // of total
	totalBytes          atomic.Int64 // total, for readers without the lock
}

// bound returns the account to which a child passes on. c.mu is held, since that
// is what keeps SetParent from changing it.
func (c *Context) bound() *ledger {
	if c.ledger.isBound {
		return &c.ledger
	}
	return c.ledger.up
}

// Charge implements account.Payer.
func (x *ledger) Charge(bytes, chunks int) bool {
	x.acct.Lock()
	full := x.take(bytes)
	x.acct.Unlock()
	if full != nil {
		return false
	}
	raise(&x.peak, x.bytes.Add(int64(bytes)))
	x.chunks.Add(int64(chunks))
	return true
}

// Refusal implements account.Payer.
func (x *ledger) Refusal(requested int) error {
	_, full := x.room()
	return full.limitError(x.ctx, x.ctx.parent.Load(), requested)
}

// Credit implements account.Payer.
func (x *ledger) Credit(bytes, chunks int) {
	x.acct.Lock()
	x.take(-bytes)
	x.acct.Unlock()
	x.bytes.Add(int64(-bytes))
	x.chunks.Add(int64(-chunks))
}

// Room implements account.Payer.
func (x *ledger) Room() int {
	room, _ := x.room()
	return room
}

// Owner implements account.Payer.
func (x *ledger) Owner() string { return x.ctx.Path() }

// room returns how many bytes a take would be granted, and the ledger whose limit
// is the narrowest, or x if there is none.
func (x *ledger) room() (room int, narrowest *ledger) {
	room, narrowest = math.MaxInt, x
	x.acct.Lock()
	defer x.acct.Unlock()
	ahead := 0 // what the ledgers on the way have set aside
	for y := x; ; {
		if left := y.limit - y.total + ahead; y.limit > 0 && left < room {
			room, narrowest = left, y
		}
		ahead += max(y.reserve-y.total, 0)
		if y = y.up; y == nil {
			return room, narrowest
		}
		y.acct.Lock()
		defer y.acct.Unlock()
	}
}

// take adds bytes to the ledger and what passes on from there to those above it.
// If that exceeds a limit it changes nothing and returns the ledger whose limit it
// is. Fewer than 0 bytes are given back. x.acct is held.
func (x *ledger) take(bytes int) (full *ledger) {
	top := x // x and those up to here are locked
	for more := bytes; ; top.acct.Lock() {
		if !top.fits(more) {
			full = top
			break
		}
		if more = top.passing(more); more == 0 || top.up == nil {
			break
		}
		top = top.up
	}
	for y := x; ; {
		up := y.up
		if full == nil {
			bytes = y.add(bytes)
		}
		if y != x {
			y.acct.Unlock()
		}
		if y == top {
			return full
		}
		y = up
	}
}

// pass is take for a ledger below. A nil ledger is no limit.
func (x *ledger) pass(bytes int) (full *ledger) {
	if x == nil || bytes == 0 {
		return nil
	}
	x.acct.Lock()
	full = x.take(bytes)
	x.acct.Unlock()
	return full
}

// fits reports whether there is room for more bytes in this ledger: without a
// limit as much as a number can hold. x.acct is held.
func (x *ledger) fits(bytes int) bool { return bytes <= cmp.Or(x.limit, math.MaxInt)-x.total }

// passing returns how many more bytes, or less, up counts when there are so many
// more, or less. x.acct is held.
func (x *ledger) passing(bytes int) int { return max(x.total+bytes, x.reserve) - x.passed() }

// add changes the total, and returns by how much up is to change its own. x.acct
// is held.
func (x *ledger) add(bytes int) (passing int) {
	passing = x.passing(bytes)
	x.setTotal(x.total + bytes)
	return passing
}

func (x *ledger) setTotal(total int) {
	x.total = total
	x.totalBytes.Store(int64(total))
	raise(&x.totalPeak, int64(total))
	if x.claim != nil {
		x.claim.passed = x.passed()
	}
}

// passed returns what up counts for x. x.acct is held.
func (x *ledger) passed() int { return max(x.total, x.reserve) }

// setAside takes the reserve of a new ledger.
func (x *ledger) setAside() error {
	if full := x.up.pass(x.reserve); full != nil {
		return full.limitError(x.ctx, x.ctx.parent.Load(), x.reserve)
	}
	return nil
}

// close gives back what a reserve still holds when its context ends, and leaves a
// claim for what claims below still hold. There will be none that is the first:
// who leaves one was below the context until then.
func (x *ledger) close() {
	if x.reserve == 0 && !x.claimed.Load() {
		return
	}
	x.acct.Lock()
	defer x.acct.Unlock()
	held := x.passed() - x.total
	x.reserve = 0
	x.setTotal(x.total)
	x.up.pass(-held)
	if x.claimed.Load() {
		x.leaveClaim()
	}
}

// maxChain bounds the contexts that a LimitError names.
const maxChain = 32

// limitError returns the error for bytes beyond the limit of x that were requested
// in the context asked, which is, or would have come, below parent.
func (x *ledger) limitError(asked, parent *Context, requested int) error {
	c := x.ctx
	c.kind.limitErrors.Add(1)
	e := &arena.LimitError{Name: c.Path(), Limit: x.limit, Used: int(x.totalBytes.Load()), Requested: requested}
	for a, next := asked, parent; a != nil && len(e.Chain) < maxChain; {
		u := arena.LimitUse{Path: a.Path(), Used: int(a.ledger.bytes.Load()), Limit: a.ledger.limit}
		if a.ledger.isBound {
			u.Used = int(a.ledger.totalBytes.Load())
		}
		e.Chain = append(e.Chain, u)
		if a = next; a != nil {
			next = a.parent.Load()
		}
	}
	return e
}

// raise makes m at least n.
func raise(m *atomic.Int64, n int64) {
	for old := m.Load(); n > old && !m.CompareAndSwap(old, n); old = m.Load() {
	}
}
