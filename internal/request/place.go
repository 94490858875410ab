package request

import (
	"context"
	"sync"

	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// A Place is where in a tree a connection or a request has its context. Whoever
// finds one leaves it in the end.
type Place struct {
	above *memctx.Context
	conn  *Conn // whose context above is, or nil
	root  *Root // whose context above is, or nil
}

// Find returns the place for what ctx belongs to: below the memory context that
// ctx carries; or below parent; or, if there is neither, below root.
func Find(ctx context.Context, parent *memctx.Context, root *Root) Place {
	if mc := memctx.FromContext(ctx); mc != nil {
		c, ok := ctx.Value(connKey{}).(*Conn)
		if !ok || c.mc != mc {
			return Place{above: mc}
		}
		if c.join() {
			return Place{above: mc, conn: c}
		}
	}
	if parent != nil {
		return Place{above: parent}
	}
	return Place{above: root.enter(), root: root}
}

// Open returns a new context at p, with a lease: if somebody deletes the context
// above while requests run, which a program does whose Shutdown has run out of time,
// their memory stays until they are over.
func (p *Place) Open(name string, conf memctx.Config) *memctx.Context {
	mc := p.above.Child(name, conf)
	if !scope.Retain(mc) { // it was deleted with the one above, just now
		panic("memctx: Retain of the deleted context " + mc.Path())
	}
	return mc
}

// End ends a context that has the caller's lease, and leaves p. Unless it is sure that nobody
// uses the context's memory any more, it leaves the memory to the garbage
// collector. What had a doubtful end may also use the memory of its connection.
func (p *Place) End(mc *memctx.Context, sure bool) {
	defer p.leave() // also if a callback of the context panics
	if sure {
		scope.Delete(mc)
		return
	}
	if p.conn != nil {
		p.conn.Doubt()
	}
	defer scope.Release(mc)
	mc.Abandon()
	noteAbandoned()
}

func (p *Place) leave() {
	switch {
	case p.conn != nil:
		p.conn.Leave()
	case p.root != nil:
		p.root.leave()
	}
}

// A Root is the context at the top of those who were given no other. It is there
// while it has users, so that a program whose servers have come to an end has no
// context left.
type Root struct {
	Name string

	mu    sync.Mutex
	mc    *memctx.Context
	users int
}

// enter returns the context for one more user.
func (r *Root) enter() *memctx.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == 0 {
		r.mc = memctx.New(r.Name)
	}
	r.users++
	return r.mc
}

func (r *Root) leave() {
	r.mu.Lock()
	r.users--
	mc, last := r.mc, r.users == 0
	r.mu.Unlock()
	if last {
		mc.Delete()
	}
}
