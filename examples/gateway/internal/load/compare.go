package load

import (
	"context"
	"fmt"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

// A Plan says what Compare and Drive do.
type Plan struct {
	Clients int           // connections
	Orders  int           // that rest before anything is measured
	Rate    int           // requests per second of the rounds at a fixed rate
	Rounds  int           // at the fixed rate, of each gateway
	Round   time.Duration // length of such a round
	Warm    time.Duration // before each round, not measured
	Bursts  int           // rounds as fast as it goes, of each gateway
	Burst   time.Duration // length of such a round
}

// Validate returns an error that says what of the plan is not possible.
func (p Plan) Validate() error {
	// Clients cancel orders of their own, so each needs more than a batch and a
	// deck have.
	switch least := 4 * wire.MaxBatch * p.Clients; {
	case p.Rate < 1 || p.Rate > 1_000_000:
		return fmt.Errorf("%d requests per second: want 1 to 1000000", p.Rate)
	case p.Orders < least || p.Orders > 3_000_000:
		return fmt.Errorf("%d orders: want %d to 3000000", p.Orders, least)
	}
	return nil
}

// Full is the plan of a comparison that is worth publishing: just under three
// minutes.
var Full = Plan{
	Clients: 16, Orders: 1_000_000, Rate: 8000,
	Rounds: 6, Round: 8 * time.Second, Warm: time.Second,
	Bursts: 4, Burst: 5 * time.Second,
}

// Quick is the plan of a look: under 20 seconds.
var Quick = Plan{
	Clients: 16, Orders: 1_000_000, Rate: 8000,
	Rounds: 2, Round: 2 * time.Second, Warm: 300 * time.Millisecond,
	Bursts: 1, Burst: 2 * time.Second,
}

// Compare starts a gateway on Go's heap and one on Haven and measures them in
// turns. It calls progress with a line for each step.
func Compare(ctx context.Context, plan Plan, progress func(string)) (*Report, error) {
	var gateways []*gateway
	for _, memory := range []string{"heap", "haven"} {
		p, err := start(ctx, memory)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		gateways = append(gateways, &gateway{addr: p.addr, result: &Result{Memory: memory}})
	}
	return measure(ctx, gateways, plan, progress)
}

// Drive measures the gateway at addr, which somebody else started, as Compare
// does with two.
func Drive(ctx context.Context, addr string, plan Plan, progress func(string)) (*Report, error) {
	return measure(ctx, []*gateway{{addr: addr, result: &Result{Memory: addr}}}, plan, progress)
}

// measure fills the books of gateways and measures one after the other in each
// round.
func measure(ctx context.Context, gateways []*gateway, plan Plan, progress func(string)) (*Report, error) {
	began := time.Now()
	for _, g := range gateways {
		defer g.disconnect()
	}
	steps := []struct {
		name   string
		rounds int
		do     func(*gateway, context.Context, Plan) error
	}{
		{fmt.Sprintf("%d orders", plan.Orders), 1, (*gateway).fill},
		{fmt.Sprintf("%d requests per second for %v", plan.Rate, plan.Round), plan.Rounds, (*gateway).steady},
		{fmt.Sprintf("as fast as it goes for %v", plan.Burst), plan.Bursts, (*gateway).fast},
		{"checking the books", 1, (*gateway).check},
	}
	for _, step := range steps {
		for i := range step.rounds {
			for k := range gateways {
				g := gateways[(i+k)%len(gateways)]
				progress(fmt.Sprintf("%s: %s (%d of %d)", g.result.Memory, step.name, i+1, step.rounds))
				if err := step.do(g, ctx, plan); err != nil {
					return nil, fmt.Errorf("gateway on %s: %w", g.result.Memory, err)
				}
			}
		}
	}
	return newReport(plan, began, gateways), nil
}
