package market_test

import (
	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

// A naive market is a list of the resting orders in the order of their ids, so in
// the order of time. It looks at all of them for each trade.
type naive struct {
	orders []naiveOrder
	lastID uint64
}

type naiveOrder struct {
	id  uint64
	in  market.Instruction
	rem int64
}

// submit carries out a batch; ok is false if an order to cancel is unknown.
func (n *naive) submit(batch []market.Instruction) (results []market.Result, ok bool) {
	refs := map[uint64]string{}
	for _, in := range batch {
		if in.Cancel {
			i := n.find(in.ID)
			if i < 0 || n.orders[i].in.Account != in.Account {
				return nil, false
			}
			refs[in.ID] = n.orders[i].in.Ref
		}
	}
	for _, in := range batch {
		if in.Cancel {
			r := market.Result{ID: in.ID, Ref: refs[in.ID], Status: market.Gone}
			if i := n.find(in.ID); i >= 0 {
				r.Status, r.Remaining = market.Cancelled, n.orders[i].rem
				n.remove(i)
			}
			results = append(results, r)
		} else {
			results = append(results, n.enter(in))
		}
	}
	return results, true
}

func (n *naive) enter(in market.Instruction) market.Result {
	n.lastID++
	r := market.Result{ID: n.lastID, Ref: in.Ref, Remaining: in.Quantity}
	for r.Remaining > 0 {
		i := n.bestFor(in)
		if i < 0 {
			break
		}
		maker := &n.orders[i]
		q := min(maker.rem, r.Remaining)
		r.Trades = append(r.Trades, market.Trade{Price: maker.in.Price, Quantity: q, Maker: maker.id, Taker: r.ID})
		r.Filled += q
		r.Remaining -= q
		maker.rem -= q
		if maker.rem == 0 {
			n.remove(i)
		}
	}
	switch {
	case r.Remaining == 0:
		r.Status = market.Filled
	case in.Immediate:
		r.Status = market.Expired
	default:
		r.Status = market.Resting
		n.orders = append(n.orders, naiveOrder{r.ID, in, r.Remaining})
	}
	return r
}

// bestFor returns the index of the order that trades next with in, or -1.
func (n *naive) bestFor(in market.Instruction) int {
	best := -1
	for i, o := range n.orders {
		switch {
		case o.in.Symbol != in.Symbol || o.in.Side == in.Side:
		case in.Side == market.Buy && o.in.Price > in.Price:
		case in.Side == market.Sell && o.in.Price < in.Price:
		case best < 0:
			best = i
		case in.Side == market.Buy && o.in.Price < n.orders[best].in.Price:
			best = i
		case in.Side == market.Sell && o.in.Price > n.orders[best].in.Price:
			best = i
		}
	}
	return best
}

func (n *naive) find(id uint64) int {
	for i := range n.orders {
		if n.orders[i].id == id {
			return i
		}
	}
	return -1
}

func (n *naive) remove(i int) { n.orders = append(n.orders[:i], n.orders[i+1:]...) }

// depth returns the levels of one side of a book, the best one first.
func (n *naive) depth(symbol uint16, side market.Side) []market.Level {
	totals := map[int64]*market.Level{}
	lo, hi := int64(1<<62), int64(0)
	for _, o := range n.orders {
		if o.in.Symbol != symbol || o.in.Side != side {
			continue
		}
		p := o.in.Price
		if totals[p] == nil {
			totals[p] = &market.Level{Price: p}
		}
		totals[p].Total += o.rem
		totals[p].Orders++
		lo, hi = min(lo, p), max(hi, p)
	}
	var levels []market.Level
	for p := lo; p <= hi; p++ {
		if l := totals[p]; l != nil {
			levels = append(levels, *l)
		}
	}
	if side == market.Buy {
		for i, j := 0, len(levels)-1; i < j; i, j = i+1, j-1 {
			levels[i], levels[j] = levels[j], levels[i]
		}
	}
	return levels
}
