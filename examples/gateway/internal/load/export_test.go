package load

import (
	"context"
	"time"
)

// Body is a request of a flow: what its gateway gets.
type Body struct {
	Body  []byte
	Count int
	Deep  []int // indices of orders that nobody will fill
}

// A Flow is that of one client, without a connection.
type Flow struct{ f *flow }

func NewFlow(client int) Flow { return Flow{newFlow(client)} }

// Cycle is how many requests a flow has before it begins again.
const Cycle = templates

// Next returns the next request.
func (f Flow) Next() Body { return bodyOf(f.f.next()) }

// Fill returns a request of deep orders.
func (f Flow) Fill(n int) Body {
	t := f.f.render(n, func() int { return deep })
	f.f.fill(&t)
	return bodyOf(&t)
}

func bodyOf(t *template) Body {
	b := Body{Body: t.body, Count: t.count}
	for _, d := range t.deep {
		b.Deep = append(b.Deep, d.index)
	}
	return b
}

// Remember is what a client does with the reply to a request.
func (f Flow) Remember(b Body, account func(index int) uint32, reply []byte) error {
	t := template{}
	for _, i := range b.Deep {
		t.deep = append(t.deep, deepOrder{i, account(i)})
	}
	return (&client{flow: f.f}).remember(&t, reply)
}

// Resting returns how many orders the flow can cancel.
func (f Flow) Resting() int { return len(f.f.resting) }

// Steady sends requests without cancels at a fixed rate.
func Steady(ctx context.Context, addr string, clients, rate int, d time.Duration) (Done, error) {
	cs, err := connect(ctx, addr, clients)
	defer (&gateway{clients: cs}).disconnect()
	if err != nil {
		return Done{}, err
	}
	for _, c := range cs {
		for i := range c.flow.templates {
			c.flow.templates[i] = c.flow.render(1, func() int { return near })
		}
	}
	return steady(ctx, cs, rate, d)
}

// ReportOf makes a report of results.
func ReportOf(plan Plan, results ...*Result) *Report {
	var gateways []*gateway
	for _, r := range results {
		gateways = append(gateways, &gateway{result: r})
	}
	return newReport(plan, time.Now(), gateways)
}

var (
	Number    = number
	Thousands = thousands
	SpreadOf  = spreadOf
	Ratios    = ratios
)
