package memctx

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/registry"
)

// A Context is memory with a name, an owner and a place in a tree: what is below
// it ends before it does. Make one with [New] or [Context.Child].
//
// A Context is for one goroutine at a time, as is the arena it hands out. Child,
// Retain, Abandon, Stats, Walk and what describes the context may be
// called from any goroutine at any time, and different contexts of a tree may be
// used by different goroutines.
//
// A nil *Context stands for no context: its Arena is nil, which is Go's heap, its
// children are nil, and everything else does nothing. So code that is written for
// contexts also runs without one. The zero Context is not usable: what does more
// than describe it panics.
//
// It takes some 300 bytes, and an arena when it is first asked for one.
type Context struct {
	ledger ledger // of its arena, and of the subtree if it has a limit

	kind    *kind
	ident   string
	created clock.Time
	maxAge  time.Duration
	site    *leak.Site // where it was made, if sampled
	parent  atomic.Pointer[Context]
	resets  atomic.Uint64

	state atomic.Uint32 // written with mu held

	mu       sync.Mutex // guards what follows; nobody but SetParent holds two of them
	first    *Context   // child made last
	last     *Context   // child made first
	children int
	leases   int
	growth   growth
	arena    *arena.Arena // written by the owner only, with mu held
	untyped  *bump.Arena  // the same
	linked   bool         // is among the parent's children
	forsaken bool         // was abandoned: its memory is never used again
	watched  bool         // cleanup is set, of a context without a parent
	cleanup  runtime.Cleanup
	spared   *[]string // texts that are read after the end: see spare

	next, prev *Context // siblings; guarded by the parent's mu, and so is linked

	// Of the owner alone.
	callbacks []func()
	calling   bool

	listed bool // in roots; guarded by structure once others know the context

	lastKind atomic.Pointer[kind] // of the last child

	aged atomic.Bool // reported as too old
}

// States of a context. One that is ended waits for leases, or for children that
// do.
const (
	invalid   = iota // the zero Context
	live             //
	abandoned        // not in the tree, but usable
	ended            // deleted, usable by those who have a lease
	ending           // its callbacks run
	gone
)

var roots registry.List[Context]

// New returns a context without a parent, with the settings of conf, of which there is one
// or none. It panics if name is empty, and if a setting is out of its range; see [Config].
//
// A root that is dropped before its end goes to the garbage collector with all
// below it. Its callbacks do not run, and the leak finder counts it.
func New(name string, conf ...Config) *Context {
	c, err := (*Context)(nil).add("New", name, conf)
	if err != nil {
		panic(err)
	}
	return c
}

// Child returns a new context below c, which ends with c if it is not ended
// before. It may be called from any goroutine. It costs some hundred nanoseconds.
// A child of nil is nil.
//
// Child panics if name is empty, if a setting is out of its range, if c is deleted, and
// with an [*arena.LimitError] if there is no room for what Config.Reserve asks.
func (c *Context) Child(name string, conf ...Config) *Context {
	child, err := c.TryChild(name, conf...)
	if err != nil {
		panic(err)
	}
	return child
}

// TryChild is [Context.Child] that returns the [*arena.LimitError] with which
// Child panics.
func (c *Context) TryChild(name string, conf ...Config) (*Context, error) {
	if c == nil {
		return nil, nil
	}
	return c.add("Child", name, conf)
}

// add makes a context below c, or a root.
func (c *Context) add(op, name string, given []Config) (*Context, error) {
	if name == "" {
		panic(fmt.Sprintf("memctx: %s%s with an empty name: want the name of a kind of work, like \"request\"", op, c.of()))
	}
	conf := config.Optional("memctx", op, given)
	conf.check(op, name, c)
	n := &Context{kind: c.kindOf(name), ident: conf.Ident, created: clock.Now(), maxAge: conf.MaxAge}
	n.ledger.ctx, n.ledger.limit, n.ledger.reserve = n, conf.Limit, conf.Reserve
	if n.maxAge > 0 {
		aging.Store(true)
	}
	n.ledger.isBound = n.ledger.limit > 0 || n.ledger.reserve > 0
	n.state.Store(live)
	if leak.SampledAfter(n.kind.created.Load()) {
		n.site = leak.Here("context", name)
	}
	if c == nil {
		n.becomeRoot()
		n.kind.created.Add(1)
		return n, nil
	}
	c.mu.Lock()
	if !c.usable() || c.state.Load() == ending {
		c.mu.Unlock()
		c.unusable(fmt.Sprintf("Child(%q)", name))
	}
	n.parent.Store(c)
	n.ledger.up = c.bound()
	if n.ledger.reserve > 0 {
		if err := n.ledger.setAside(); err != nil {
			c.mu.Unlock()
			return nil, err
		}
	}
	if c.forsaken {
		n.state.Store(abandoned)
		n.forsake()
	}
	c.link(n)
	c.mu.Unlock()
	n.kind.created.Add(1)
	return n, nil
}

// becomeRoot lists c with the roots, and counts it if it is dropped. c.mu is held
// if others know c.
func (c *Context) becomeRoot() {
	if !c.listed {
		c.listed = true
		roots.Add(c)
	}
	type root struct {
		kind    *kind
		ident   string
		site    *leak.Site
		created clock.Time
	}
	c.watched = true
	c.cleanup = runtime.AddCleanup(c, func(r root) {
		r.kind.dropped.Add(1)
		leak.Report(leak.Dropped, "context", r.kind.name, label(r.kind.name, r.ident), 0, r.created.Age(), r.site)
	}, root{c.kind, c.ident, c.site, c.created})
}

// unwatch is for a root that has a parent now, or has ended. c.mu is held.
func (c *Context) unwatch() {
	if c.watched {
		c.watched = false
		c.cleanup.Stop()
	}
}

// link makes n the first of c's children. c.mu is held.
func (c *Context) link(n *Context) {
	n.linked = true
	n.next = c.first
	if c.first != nil {
		c.first.prev = n
	} else {
		c.last = n
	}
	c.first = n
	c.children++
}

// unlink takes c out of its parent's children and returns the parent, or nil if c
// was not among them.
func (c *Context) unlink() *Context {
	for {
		p := c.parent.Load()
		if p == nil {
			return nil
		}
		p.mu.Lock()
		if c.parent.Load() == p { // and not moved since
			linked := c.linked
			if linked {
				p.remove(c)
			}
			p.mu.Unlock()
			if !linked {
				return nil
			}
			return p
		}
		p.mu.Unlock()
	}
}

// remove takes n out of c's children. c.mu is held.
func (c *Context) remove(n *Context) {
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		c.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		c.last = n.prev
	}
	n.next, n.prev, n.linked = nil, nil, false
	c.children--
}

// Arena returns the context's arena. The first call takes a warm one from those
// that contexts of the same name gave back; all others return it again, at the
// cost of a nanosecond. It belongs to the context and ends with it: its Free
// panics, and so does a Put into a Pool. A Reset of the arena itself or of a lane,
// and the Release of a Mark, ignore leases: their caller vouches that nobody uses
// the memory any more. [Context.Reset] heeds leases. The arena of a nil context is
// nil, which stands for Go's heap. Arena panics after Delete.
func (c *Context) Arena() *arena.Arena {
	if c != nil && c.state.Load() == live && c.arena != nil {
		return c.arena
	}
	return c.takeArena()
}

// takeArena is Arena the first time, and after the context's best days.
func (c *Context) takeArena() *arena.Arena {
	if c == nil {
		return nil
	}
	c.mustBeUsable("Arena")
	if c.arena != nil {
		return c.arena
	}
	a := c.kind.pool.Get()
	account.Attach(a, &c.ledger, c.site)
	c.mu.Lock()
	c.arena = a
	c.mu.Unlock()
	return a
}

// OnReset registers f to run once, when the context is Reset or ends; the last
// one registered runs first, while everything allocated is still intact, and
// after those of the contexts below. If one panics the others still run, and the
// panic goes on. f may allocate in the context; what it registers runs in the
// same round. It must not Reset or Delete the context. The callbacks of an
// abandoned context run only if it is deleted after all. For a nil context, which
// never ends, f is dropped. OnReset panics if f is nil, and after Delete.
func (c *Context) OnReset(f func()) {
	if f == nil {
		panic("memctx: OnReset(nil)" + c.of())
	}
	if c == nil {
		return
	}
	c.mustBeUsable("OnReset")
	c.callbacks = append(c.callbacks, f)
}

// Parent returns the context above, or nil for a root. For a deleted context it
// is the one it had.
func (c *Context) Parent() *Context {
	if c == nil {
		return nil
	}
	return c.parent.Load()
}

// usable reports whether the context may be used by somebody: with a lease also
// after Delete. c.mu is held.
func (c *Context) usable() bool {
	switch c.state.Load() {
	case live, abandoned, ending:
		return true
	case ended:
		return c.leases > 0
	}
	return false
}

// mustBeUsable panics if the context was deleted.
func (c *Context) mustBeUsable(op string) {
	if s := c.state.Load(); s == live || s == abandoned {
		return
	}
	c.mu.Lock()
	ok := c.usable()
	c.mu.Unlock()
	if !ok {
		c.unusable(op)
	}
}

func (c *Context) unusable(op string) {
	panic("memctx: " + op + " of " + c.fault())
}

// fault says what the context is that is not usable.
func (c *Context) fault() string {
	if c.state.Load() == invalid {
		return "a zero Context: make one with New or Child"
	}
	return "the deleted context " + c.Path()
}
