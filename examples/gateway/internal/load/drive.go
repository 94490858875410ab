package load

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latency are percentiles of latencies.
type Latency struct {
	P50, P99, P999, Max time.Duration
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	at := func(percent float64) time.Duration { return time.Duration(h.ValueAtPercentile(percent)) }
	return Latency{at(50), at(99), at(99.9), time.Duration(h.Max())}
}

// Done is what clients did in a while.
type Done struct {
	Requests     int
	Instructions int
	Elapsed      time.Duration
	Latency      Latency
}

// PerSecond returns the requests per second.
func (d Done) PerSecond() float64 { return float64(d.Requests) / d.Elapsed.Seconds() }

// patience is how much longer than meant a part of the run may take.
const patience = 30 * time.Second

// each runs f for all clients at once, and pace beside them if it is not nil, and
// returns what they did. The first error ends all, and so does the end of limit,
// when a gateway counts as dead.
func each(ctx context.Context, clients []*client, limit time.Duration, pace func(context.Context) error, f func(context.Context, *client) error) (Done, error) {
	ctx, timeout := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the gateway did not reply for %v", patience))
	defer timeout()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error)
	run := func(f func() error) {
		err := f()
		if err != nil {
			cancel(err)
		}
		ended <- err
	}
	start := time.Now()
	parts := len(clients)
	if pace != nil {
		parts++
		go run(func() error { return pace(ctx) })
	}
	for _, c := range clients {
		c.forget()
		go run(func() error {
			// Who waits for a reply does not look at ctx.
			stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
			defer stop()
			return f(ctx, c)
		})
	}
	for range parts {
		<-ended
	}
	d := Done{Elapsed: time.Since(start)}
	if err := context.Cause(ctx); err != nil {
		return Done{}, err
	}
	all := newHistogram()
	for _, c := range clients {
		d.Requests += c.requests
		d.Instructions += c.instructions
		all.Merge(c.latency)
	}
	d.Latency = latencyOf(all)
	return d, nil
}

// fill enters n orders, of which one in ten is near the middle of its book, as
// fast as it goes.
func fill(ctx context.Context, clients []*client, n int) (Done, error) {
	share := (n + len(clients) - 1) / len(clients)
	return each(ctx, clients, time.Duration(n)*time.Millisecond+patience, nil, func(ctx context.Context, c *client) error {
		i := c.flow.client * share
		for end := min(i+share, n); i < end; {
			size := min(end-i, 64)
			t := c.flow.render(size, func() int {
				i++
				if i%10 == 0 {
					return near
				}
				return deep
			})
			c.flow.fill(&t)
			if err := c.do(&t, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// fast lets all clients send for a while as fast as replies come.
func fast(ctx context.Context, clients []*client, d time.Duration) (Done, error) {
	end := time.Now().Add(d)
	return each(ctx, clients, d+patience, nil, func(ctx context.Context, c *client) error {
		for now := time.Now(); now.Before(end); now = time.Now() {
			if err := c.do(c.flow.next(), now); err != nil {
				return err
			}
		}
		return nil
	})
}

// backlog is how many requests may be due at one client.
const backlog = 1 << 12

// steady lets the clients send at a fixed rate, in requests per second of all
// together. A request is due when its time has come, even if its client still
// waits for a reply.
func steady(ctx context.Context, clients []*client, rate int, d time.Duration) (Done, error) {
	due := make([]chan time.Time, len(clients))
	for i := range due {
		due[i] = make(chan time.Time, backlog)
	}
	pace := func(ctx context.Context) error {
		defer func() {
			for i := range due {
				close(due[i])
			}
		}()
		p := newPacer()
		defer p.close()
		start := time.Now()
		for i := range int(int64(rate) * int64(d) / int64(time.Second)) {
			t := start.Add(time.Duration(int64(i) * int64(time.Second) / int64(rate)))
			p.wait(t)
			if ctx.Err() != nil {
				return nil
			}
			select {
			case due[i%len(due)] <- t:
			default:
				return fmt.Errorf("the gateway cannot keep up with %d requests per second: %d are due", rate, len(due)*backlog)
			}
		}
		return nil
	}
	return each(ctx, clients, d+patience, pace, func(ctx context.Context, c *client) error {
		for t := range due[c.flow.client] {
			if err := c.do(c.flow.next(), t); err != nil {
				return err
			}
		}
		return nil
	})
}
