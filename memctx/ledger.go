package memctx

import (
	"cmp"
	"math"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
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
	node    *node
	acct    sync.Mutex // guards what is not guarded by the node's mu; taken after that
	up      *ledger    // the next bound ledger above; changed by SetParent until the context is gone, with mu and acct held
	limit   int        // 0: none; written with mu held, before others know the context
	isBound bool       // has a limit or sets memory aside; the same
	reserve int        // taken from up whether it is used or not; 0 at the context's end
	total   int
	claim   *claim // of an abandoned context

	claimed atomic.Bool // there are, or were, claims to this ledger

	alone bool // the node's mu is held and nothing above counts, so nobody wants acct; guarded by mu

	own       Usage // of the own arena
	totalPeak int   // of total
}

// open makes x the ledger of a new context, which nobody else knows. The node's mu is held.
func (x *ledger) open(conf *Config) {
	x.up, x.limit, x.reserve = nil, conf.Limit, conf.Reserve
	x.isBound = conf.Limit > 0 || conf.Reserve > 0
	x.own.HighWater, x.totalPeak = 0, 0
}

// atRest reports whether nobody has to do with the ledger of a context that is gone. Where
// there were claims, they may be settled meanwhile, so that is asked first.
func (x *ledger) atRest() bool { return !x.claimed.Load() && x.claim == nil && x.total == 0 }

// bound returns the account to which a child passes on. c.mu is held, since that
// is what keeps SetParent from changing it.
func (c *node) bound() *ledger {
	if c.ledger.isBound {
		return &c.ledger
	}
	return c.ledger.up
}

// Charge implements account.Payer.
func (x *ledger) Charge(bytes, chunks int) bool {
	x.lock()
	if x.take(bytes) != nil {
		x.unlock()
		return false
	}
	x.own.Bytes += bytes
	x.own.Chunks += chunks
	if x.own.Bytes > x.own.HighWater {
		x.own.HighWater = x.own.Bytes
		raise(&x.node.kind.peak, int64(x.own.Bytes))
	}
	x.unlock()
	return true
}

// attach makes p, which is x or nil, pay for the arena. The node's mu is held, and so nobody
// else comes to a ledger to which nobody passes on, and which does not pass on itself.
func (x *ledger) attach(a *arena.Arena, p account.Payer, site *leak.Site) {
	x.alone = !x.isBound && x.up == nil
	account.Attach(a, p, site)
	x.alone = false
}

func (x *ledger) lock() {
	if !x.alone {
		x.acct.Lock()
	}
}

func (x *ledger) unlock() {
	if !x.alone {
		x.acct.Unlock()
	}
}

// Refusal implements account.Payer.
func (x *ledger) Refusal(requested int) error {
	_, full := x.room()
	c := x.context()
	_, parent := c.look()
	return full.limitError(c, parent, requested)
}

// context returns the context whose ledger it is.
func (x *ledger) context() ref { return x.node.handle() }

// Credit implements account.Payer.
func (x *ledger) Credit(bytes, chunks int) {
	x.lock()
	x.take(-bytes)
	x.own.Bytes -= bytes
	x.own.Chunks -= chunks
	x.unlock()
}

// Room implements account.Payer.
func (x *ledger) Room() int {
	room, _ := x.room()
	return room
}

// Owner implements account.Payer.
func (x *ledger) Owner() string { return x.context().path() }

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
	x.totalPeak = max(x.totalPeak, total)
	if x.claim != nil {
		x.claim.passed = x.passed()
	}
}

// passed returns what up counts for x. x.acct is held.
func (x *ledger) passed() int { return max(x.total, x.reserve) }

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
// in the context asked, which is, or would have come, below parent. No lock is held.
func (x *ledger) limitError(asked, parent ref, requested int) error {
	c := x.context()
	c.kind.limitErrors.Add(1)
	at := c.limitUse()
	e := &arena.LimitError{Name: at.Path, Limit: at.Limit, Used: at.Used, Requested: requested}
	for a, next := asked, parent; a.node != nil && len(e.Chain) < maxChain; {
		e.Chain = append(e.Chain, a.limitUse())
		if a = next; a.node != nil {
			_, next = a.look()
		}
	}
	return e
}

// limitUse returns what is used of the context's limit.
func (c ref) limitUse() arena.LimitUse {
	u := arena.LimitUse{Path: c.path()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holds() {
		return u
	}
	x := &c.ledger
	x.acct.Lock()
	defer x.acct.Unlock()
	u.Limit, u.Used = x.limit, x.own.Bytes
	if x.isBound {
		u.Used = x.total
	}
	return u
}

// raise makes m at least n.
func raise(m *atomic.Int64, n int64) {
	for old := m.Load(); n > old && !m.CompareAndSwap(old, n); old = m.Load() {
	}
}
