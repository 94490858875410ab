// Package request has what the servers' packages have in common: memory contexts
// of connections, which end with the last of their requests, and of requests,
// which end well or in doubt.
package request

import (
	"context"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// A Conn is a connection's memory context. Both of its users' ends count, that of
// the connection and those of its requests, since a server with many requests of
// one connection learns that it is closed while they run, and may even start one
// after that.
type Conn struct {
	mc    *memctx.Context
	place Place
	users atomic.Int64 // the connection and its requests; 0: ended
	doubt atomic.Bool  // somebody may use the memory after the end
}

// OpenConn opens a context "conn" at p. Whoever calls it calls Leave when the
// connection is closed.
func OpenConn(p Place, conf memctx.Config) *Conn {
	c := &Conn{mc: p.above.Child("conn", conf), place: p}
	c.users.Store(1)
	return c
}

// join counts one more user and reports true, unless the context has ended.
func (c *Conn) join() bool {
	for {
		n := c.users.Load()
		if n == 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Doubt says that somebody may use the connection's memory after its end.
func (c *Conn) Doubt() { c.doubt.Store(true) }

// Leave ends the context if it is called by the last user.
//
// The context may have ended with its parent, and has no lease of its own against
// that: net/http reports the end of idle connections when Shutdown has returned,
// after which a program deletes what it gave as a parent, and expects that nothing
// is left.
func (c *Conn) Leave() {
	switch {
	case c.users.Add(-1) > 0:
	case scope.Retain(c.mc):
		c.place.End(c.mc, !c.doubt.Load())
	default:
		c.place.leave()
	}
}

// Context returns ctx with the connection and its memory context.
func (c *Conn) Context(ctx context.Context) context.Context { return &connContext{ctx, c} }

type connContext struct {
	context.Context
	conn *Conn
}

// connKey is the key of a *Conn in a context.Context.
type connKey struct{}

// Value implements context.Context.
func (c *connContext) Value(key any) any {
	switch key.(type) {
	case scope.Key:
		return c.conn.mc
	case connKey:
		return c.conn
	}
	return c.Context.Value(key)
}
