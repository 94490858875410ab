package main

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
	"github.com/haven-mem/haven/pool"
)

// What a gateway may use, whatever clients send.
const (
	capacity     = 4_000_000 // orders that rest
	idleBuffers  = 16 << 20  // bytes
	requestLimit = 1 << 20   // bytes; a batch of 64 takes some 40 KiB
	connLimit    = 4 << 20   // bytes
	totalLimit   = 256 << 20 // bytes of all requests together
)

// newGateway returns a gateway on "haven" or "heap", and false if memory is
// neither.
func newGateway(memory string) (*gateway, bool) {
	d := market.NewDirectory(market.Symbols, market.Accounts)
	switch memory {
	case "haven":
		return &gateway{
			directory: d,
			market:    market.NewHaven(d, capacity),
			buffers:   pool.NewBytes(pool.BytesConfig{Name: "bodies", MaxBytes: idleBuffers}),
			memory:    memctx.New("gateway", memctx.Config{Limit: totalLimit}),
		}, true
	case "heap":
		return &gateway{
			directory: d,
			market:    market.NewHeap(d, capacity),
			buffers:   &heapBuffers{},
		}, true
	}
	return nil, false
}

// server returns the server of the gateway.
func (g *gateway) server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", g.orders)
	mux.HandleFunc("GET /book/{symbol}", g.book)
	mux.HandleFunc("GET /stats", g.stats)
	mux.HandleFunc("GET /check", g.check)
	srv := newServer(mux)
	if g.memory != nil {
		memhttp.Wrap(srv, memhttp.Config{Parent: g.memory, ConnLimit: connLimit, RequestLimit: requestLimit})
	}
	return srv
}

// debugServer returns the server of the debug page. It has Go's profiles as well.
func debugServer() *http.Server {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	srv := newServer(mux)
	srv.WriteTimeout = 2 * time.Minute // a profile takes as long as one asks for
	return srv
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}
