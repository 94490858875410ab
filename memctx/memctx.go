package memctx

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

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
// A nil Context stands for no context: its Arena is nil, which is Go's heap, its
// children are nil, and everything else does nothing. So code that is written for
// contexts also runs without one.
//
// A Context has two words, which as a rule are all that a new one allocates: what it refers
// to, some 350 bytes, serves another context of its name after the end, and so does its arena, which it has when it is first asked for one. A
// Context that has ended is no other for that: to use it panics as before, and it is described
// by its name alone from then on.
type Context struct {
	_ noCopy
	r ref
}

// A noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A ref is what a Context has: what it refers to, and when. The zero ref is that of no
// context.
type ref struct {
	*node
	tag uint64 // the node's word while the context is live
}

// ref returns what mc has.
func (mc *Context) ref() ref {
	if mc == nil {
		return ref{}
	}
	return mc.r
}

// public returns the Context of c. There is one while it is live.
func (c ref) public() *Context {
	if c.node == nil {
		return nil
	}
	if p := c.front.Load(); p != nil && p.r == c {
		return p
	}
	return &Context{r: c}
}

// A node is what a context refers to. When that has ended, the node serves another of its
// name, with the next generation in its word, and those who come with the tag of the one
// before find that it is not theirs. They may come at any time, so whoever is
// given a Context looks at the word with mu held; what is reached through links does not
// end while they are there.
type node struct {
	word atomic.Uint64 // generation and state; written with mu held

	ledger ledger // of its arena, and of the subtree if it has a limit

	kind     *kind                       // for ever
	lastKind atomic.Pointer[kind]        // of the last child
	arena    atomic.Pointer[arena.Arena] // written with mu held
	front    atomic.Pointer[Context]     // of the context that the node serves, or served last

	parent   atomic.Pointer[node] // written with mu held, of the node and of the parent
	mu       sync.Mutex           // guards what follows; nobody but SetParent holds two of them
	above    *Context             // the parent, as its users know it
	settings Config
	created  clock.Time
	site     *leak.Site // where it was made, if sampled
	first    *node      // child made last
	last     *node      // child made first
	children int
	leases   int
	growth   growth
	resets   uint64
	aged     bool        // reported as too old
	untyped  *bump.Arena // written by the owner only
	linked   bool        // is among the parent's children
	forsaken bool        // was abandoned: its memory is never used again
	spared   *[]string   // texts that are read after the end: see spare

	watch *watch // of a node that was a root once

	next, prev *node // siblings; guarded by the parent's mu, and so is linked

	// Of the owner alone.
	callbacks []func()
	calling   bool
}

// States of a context. One that is ended waits for leases, or for children that
// do.
const (
	live      = iota //
	abandoned        // not in the tree, but usable
	ended            // deleted, usable by those who have a lease
	ending           // its callbacks run
	gone             // and its node is another's, or will be

	states = 8 // the generation counts in these
)

// state returns the state of the context that has the node now.
func (c *node) state() uint64 { return c.word.Load() % states }

// become sets it. c.mu is held.
func (c *node) become(state uint64) { c.word.Store(c.tagOf() + state) }

// tagOf returns the tag of the context that has the node now.
func (c *node) tagOf() uint64 { return c.word.Load() &^ (states - 1) }

// handle returns that context. c.mu is held, or that of its parent.
func (c *node) handle() ref { return ref{c, c.tagOf()} }

// holds reports whether the node is still the context's. c.mu is held.
func (c ref) holds() bool { return c.tagOf() == c.tag }

// is reports whether the context is in that state.
func (c ref) is(state uint64) bool { return c.word.Load() == c.tag+state }

// roots are the nodes that were roots once.
var (
	roots     registry.List[node]
	rootsMade atomic.Uint64
)

// New returns a context without a parent, with the settings of conf, of which there is one
// or none. It panics if name is empty, and if a setting is out of its range; see [Config].
//
// A root that is dropped before its end goes to the garbage collector with all
// below it. Its callbacks do not run, and the leak finder counts it.
func New(name string, conf ...Config) *Context {
	c, err := ref{}.add("New", name, conf)
	if err != nil {
		panic(err)
	}
	return c.public()
}

// Child returns a new context below mc, which ends with mc if it is not ended
// before. It may be called from any goroutine. It costs some hundred nanoseconds.
// A child of a nil Context is nil.
//
// Child panics if name is empty, if a setting is out of its range, if mc is deleted, and
// with an [*arena.LimitError] if there is no room for what Config.Reserve asks.
func (mc *Context) Child(name string, conf ...Config) *Context {
	child, err := mc.TryChild(name, conf...)
	if err != nil {
		panic(err)
	}
	return child
}

// TryChild is [Context.Child] that returns the [*arena.LimitError] with which
// Child panics.
func (mc *Context) TryChild(name string, conf ...Config) (*Context, error) {
	c := mc.ref()
	if c.node == nil {
		return nil, nil
	}
	child, err := c.add("Child", name, conf)
	return child.public(), err
}

// add makes a context below c, or a root.
func (c ref) add(op, name string, given []Config) (ref, error) {
	if name == "" {
		panic(fmt.Sprintf("memctx: %s%s with an empty name: want the name of a kind of work, like \"request\"", op, c.of()))
	}
	conf := config.Optional("memctx", op, given)
	conf.check(op, name, c)
	if c.node != nil && !c.is(live) {
		c.mustBeUsable(fmt.Sprintf("Child(%q)", name)) // before its node may be the new one's
	}
	k := c.node.kindOf(name)
	n, before := k.take(c.node == nil)
	n.open(&conf, c, leak.SampledAfter(before))
	if c.node == nil {
		return n.handle(), nil
	}
	c.mu.Lock()
	if !c.mayHaveChildren() {
		c.mu.Unlock()
		n.refuse()
		c.unusable(fmt.Sprintf("Child(%q)", name))
	}
	n.ledger.up = c.bound()
	if n.ledger.reserve > 0 {
		if full := n.ledger.up.pass(n.ledger.reserve); full != nil {
			c.mu.Unlock()
			err := full.limitError(n.handle(), c, n.ledger.reserve)
			n.refuse()
			return ref{}, err
		}
	}
	if c.forsaken {
		n.become(abandoned)
		n.forsake()
	}
	c.link(n)
	h := n.handle()
	c.mu.Unlock()
	return h, nil
}

// open makes the node that of a new context.
func (c *node) open(conf *Config, parent ref, sampled bool) {
	c.mu.Lock() // against those who describe the one before
	c.settings = *conf
	c.created = clock.Now()
	c.site = nil
	if sampled {
		c.site = leak.Here("context", c.kind.name)
	}
	if c.parent.Load() != parent.node { // which spares a store that others wait for
		c.parent.Store(parent.node)
	}
	c.above = parent.public()
	c.ledger.open(conf)
	c.growth = growth{}
	c.resets, c.aged = 0, false
	c.word.Store(c.tagOf() + states + live)
	c.front.Store(&Context{r: c.handle()})
	if parent.node == nil {
		c.becomeRoot()
	}
	c.mu.Unlock()
	if conf.MaxAge > 0 {
		aging.Store(true)
	}
}

// becomeRoot lists c with the roots, and counts it if it is dropped. c.mu is held.
func (c *node) becomeRoot() {
	if c.watch == nil {
		c.watch = new(watch)
		roots.Add(c)
		runtime.AddCleanup(c, (*watch).drop, c.watch)
	}
	w := c.watch
	if w.tag != c.tagOf() {
		w.tag, w.order = c.tagOf(), rootsMade.Add(1)
	}
	w.name, w.dropped, w.ident, w.site, w.created = c.kind.name, c.kind.dropped, c.settings.Ident, c.site, c.created
	w.on.Store(true)
}

// unwatch is for a root that has a parent now, or has ended. c.mu is held.
func (c *node) unwatch() {
	if c.watch != nil && c.watch.on.Load() {
		c.watch.on.Store(false)
	}
}

// A watch is what is known of a root when the garbage collector finds that it was dropped.
// It is set for as long as a node lives, since setting one costs more than all the rest.
type watch struct {
	on      atomic.Bool // a root has the node
	order   uint64      // among all roots of the context with this tag; guarded by the node's mu
	tag     uint64
	name    string
	dropped *atomic.Uint64 // the kind's; a kind has nodes, which a cleanup must not keep
	ident   string
	site    *leak.Site
	created clock.Time
}

// drop is called when nobody has the node any more.
func (w *watch) drop() {
	if w.on.Load() {
		w.dropped.Add(1)
		leak.Report(leak.Dropped, "context", w.name, label(w.name, w.ident), 0, w.created.Age(), w.site)
	}
}

// link makes n the first of c's children. c.mu is held.
func (c *node) link(n *node) {
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

// unlink takes c out of its parent's children and returns the parent, or none
// if c was not among them.
func (c *node) unlink() (parent ref) {
	for {
		p := c.parent.Load()
		if p == nil {
			return ref{}
		}
		p.mu.Lock()
		if c.parent.Load() == p { // and not moved since
			if c.linked {
				parent = p.handle()
				p.remove(c)
			}
			p.mu.Unlock()
			return parent
		}
		p.mu.Unlock()
	}
}

// remove takes n out of c's children. c.mu is held.
func (c *node) remove(n *node) {
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
// the memory any more. [Context.Reset] heeds leases. The arena of a nil Context is
// nil, which stands for Go's heap. Arena panics after Delete.
func (mc *Context) Arena() *arena.Arena {
	c := mc.ref()
	if c.node != nil {
		// The second look is for those whose context ends meanwhile. They may not, but
		// the arena of the next context is not for them.
		if a := c.arena.Load(); a != nil && c.is(live) {
			return a
		}
	}
	return c.takeArena()
}

// takeArena is Arena the first time, and after the context's best days.
func (c ref) takeArena() *arena.Arena {
	if c.node == nil {
		return nil
	}
	c.lockUsable("Arena")
	a := c.arena.Load()
	if a == nil {
		a = c.kind.pool.Get()
		account.Configure(a, c.settings.FirstChunk, c.settings.Retain)
		c.ledger.attach(a, &c.ledger, c.site)
		c.arena.Store(a)
	}
	c.mu.Unlock()
	return a
}

// OnReset registers f to run once, when the context is Reset or ends; the last
// one registered runs first, while everything allocated is still intact, and
// after those of the contexts below. If one panics the others still run, and the
// panic goes on. f may allocate in the context; what it registers runs in the
// same round. It must not Reset or Delete the context. The callbacks of an
// abandoned context run only if it is deleted after all. For a nil Context, which
// never ends, f is dropped. OnReset panics if f is nil, and after Delete.
func (mc *Context) OnReset(f func()) {
	c := mc.ref()
	if f == nil {
		panic("memctx: OnReset(nil)" + c.of())
	}
	if c.node == nil {
		return
	}
	c.lockUsable("OnReset")
	c.callbacks = append(c.callbacks, f)
	c.mu.Unlock()
}

// Parent returns the context above, or a nil Context for a root. For a deleted context
// it is the one it had, until its place is another's.
func (mc *Context) Parent() *Context {
	c := mc.ref()
	if c.node == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holds() {
		return nil
	}
	return c.above
}

// look returns what describes the context, which is nothing when its node is another's.
func (c ref) look() (ident string, parent ref) {
	if c.node != nil {
		c.mu.Lock()
		if c.holds() {
			ident, parent = c.settings.Ident, c.above.ref()
		}
		c.mu.Unlock()
	}
	return ident, parent
}

// usable reports whether the context may be used by somebody: with a lease also
// after Delete. c.mu is held.
func (c ref) usable() bool {
	return c.is(live) || c.is(abandoned) || c.is(ending) || c.is(ended) && c.leases > 0
}

// mayHaveChildren reports whether contexts may come below c, and leases. c.mu is held.
func (c ref) mayHaveChildren() bool { return c.usable() && !c.is(ending) }

// mustBeUsable panics if the context was deleted.
func (c ref) mustBeUsable(op string) {
	if !c.is(live) && !c.is(abandoned) {
		c.lockUsable(op)
		c.mu.Unlock()
	}
}

// lockUsable locks c.mu, and panics if the context was deleted.
func (c ref) lockUsable(op string) {
	c.mu.Lock()
	if !c.usable() {
		c.mu.Unlock()
		c.unusable(op)
	}
}

func (c ref) unusable(op string) { panic("memctx: " + op + " of the deleted context " + c.path()) }
