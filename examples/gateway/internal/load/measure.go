package load

import (
	"context"
	"time"
)

// A Round is what a gateway did in a while and used for it.
type Round struct {
	Done
	CPU   time.Duration
	GCCPU time.Duration // of the cycles that ended in this while
	GCs   uint64
}

// A Result is what was measured of one gateway.
type Result struct {
	Memory string  // "heap" or "haven", or the address of a gateway that was not started here
	Fill   Round   // until all orders rested
	Steady []Round // at the fixed rate
	Fast   []Round // as fast as it goes
	Begin  Stats   // when all orders rested
	End    Stats
}

// A gateway is one that is measured.
type gateway struct {
	addr    string
	clients []*client
	result  *Result
}

// fill connects, and enters the orders that rest.
func (g *gateway) fill(ctx context.Context, plan Plan) (err error) {
	if g.clients, err = connect(ctx, g.addr, plan.Clients); err != nil {
		return err
	}
	g.result.Fill, err = g.round(ctx, func() (Done, error) { return fill(ctx, g.clients, plan.Orders) })
	if err == nil {
		g.result.Begin, err = stats(ctx, g.addr)
	}
	return err
}

// steady runs a round at the fixed rate.
func (g *gateway) steady(ctx context.Context, plan Plan) error {
	if _, err := steady(ctx, g.clients, plan.Rate, plan.Warm); err != nil {
		return err
	}
	r, err := g.round(ctx, func() (Done, error) { return steady(ctx, g.clients, plan.Rate, plan.Round) })
	g.result.Steady = append(g.result.Steady, r)
	return err
}

// fast runs a round as fast as it goes.
func (g *gateway) fast(ctx context.Context, plan Plan) error {
	if _, err := fast(ctx, g.clients, plan.Warm); err != nil {
		return err
	}
	r, err := g.round(ctx, func() (Done, error) { return fast(ctx, g.clients, plan.Burst) })
	g.result.Fast = append(g.result.Fast, r)
	return err
}

// round runs f and returns what was done and what the gateway used for it.
func (g *gateway) round(ctx context.Context, f func() (Done, error)) (Round, error) {
	before, err := stats(ctx, g.addr)
	if err != nil {
		return Round{}, err
	}
	done, err := f()
	if err != nil {
		return Round{}, err
	}
	after, err := stats(ctx, g.addr)
	used := after.Since(before.Vitals)
	return Round{Done: done, CPU: used.CPU, GCCPU: used.GCCPU, GCs: used.GCs}, err
}

// check takes the last numbers and makes the gateway look at its books.
func (g *gateway) check(ctx context.Context, _ Plan) (err error) {
	if g.result.End, err = stats(ctx, g.addr); err != nil {
		return err
	}
	return check(ctx, g.addr)
}

func (g *gateway) disconnect() {
	for _, c := range g.clients {
		c.conn.Close()
	}
}
