package main

import (
	"fmt"
	"net/http"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/vitals"
)

// book shows the best levels of a symbol: GET /book/{symbol}.
func (g *gateway) book(w http.ResponseWriter, r *http.Request) {
	symbol, ok := g.directory.Symbol(r.PathValue("symbol"))
	if !ok {
		respond(w, http.StatusNotFound, map[string]string{"error": fmt.Sprintf("there is no symbol %.40q", r.PathValue("symbol"))})
		return
	}
	const levels = 10
	respond(w, http.StatusOK, map[string][]market.Level{
		"buy":  g.market.Depth(symbol, market.Buy, levels),
		"sell": g.market.Depth(symbol, market.Sell, levels),
	})
}

// stats shows what the process has used and what the market has done: GET /stats.
func (g *gateway) stats(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, load.Stats{Vitals: vitals.Read(), Market: g.market.Counts()})
}

// check looks at all orders: GET /check.
func (g *gateway) check(w http.ResponseWriter, r *http.Request) {
	if err := g.market.Check(); err != nil {
		respond(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	respond(w, http.StatusOK, map[string]int{"resting": g.market.Counts().Resting})
}
