package memhttp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/haven-mem/haven/internal/request"
	"github.com/haven-mem/haven/memctx"
)

// Wrap makes srv open a memory context "conn" for each connection, with its remote
// address as ident, and below it one for each request, as [Handler]
// does. It puts itself around the server's Handler (http.DefaultServeMux if there
// is none), ConnContext and ConnState, so those are set before, and not after.
// Call it once, before the server serves. With an httptest.Server it is called on
// its Config, before Start.
//
// A connection's context is the parent of its requests' contexts, and may have
// memory of its own, which is for one request at a time. It ends when the
// connection is closed or hijacked and the last handler has returned. A connection
// without a request takes some 500 bytes.
//
// Wrap panics if srv is nil, if a setting is out of its range, and if srv was wrapped
// before.
func Wrap(srv *http.Server, conf ...Config) {
	if srv == nil {
		panic("memhttp: Wrap of a nil Server")
	}
	if h, ok := srv.Handler.(*handler); ok && h.server {
		panic(fmt.Sprintf("memhttp: Wrap of the server for %q, which is wrapped", srv.Addr))
	}
	next := srv.Handler
	if next == nil {
		next = http.DefaultServeMux
	}
	h := newHandler(next, configOf("Wrap", conf))
	h.server = true
	srv.Handler = h
	s := &conns{conf: &h.conf}
	connContext, connState := srv.ConnContext, srv.ConnState
	srv.ConnContext = func(ctx context.Context, nc net.Conn) context.Context {
		if connContext != nil {
			if ctx = connContext(ctx, nc); ctx == nil {
				return nil // which net/http reports
			}
		}
		return s.open(ctx, nc)
	}
	srv.ConnState = func(nc net.Conn, state http.ConnState) {
		defer s.change(nc, state) // also if the hook panics
		if connState != nil {
			connState(nc, state)
		}
	}
}

// conns are the open connections of a server. The net.Conn is all that ConnContext
// and ConnState have in common. net/http calls the first once, before anything
// else, and the second with StateClosed or StateHijacked once.
type conns struct {
	conf *Config
	by   sync.Map // net.Conn to *request.Conn
}

func (s *conns) open(ctx context.Context, nc net.Conn) context.Context {
	c := request.OpenConn(request.Find(ctx, s.conf.Parent, &root), memctx.Config{Ident: remote(nc), Limit: s.conf.ConnLimit})
	s.by.Store(nc, c)
	return c.Context(ctx)
}

// change ends a connection that is closed, or not the server's any more.
func (s *conns) change(nc net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if v, ok := s.by.LoadAndDelete(nc); ok {
		c := v.(*request.Conn)
		if state == http.StateHijacked {
			c.Doubt()
		}
		c.Leave()
	}
}

// remote returns the address of a connection's client.
func remote(nc net.Conn) string {
	if a := nc.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}
