package market_test

import (
	"errors"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

// A numbered market is one whose orders have the numbers 1, 2, … in the order in
// which they came, whatever ids the market below gives them.
type numbered struct {
	market.Market
	ids     []uint64          // by number, from 1 on
	numbers map[uint64]uint64 // by id
}

func newNumbered(m market.Market) *numbered {
	return &numbered{Market: m, ids: []uint64{0}, numbers: map[uint64]uint64{}}
}

func (n *numbered) Submit(a *arena.Arena, batch []market.Instruction) ([]market.Result, error) {
	below := append([]market.Instruction(nil), batch...)
	for i := range below {
		if id := below[i].ID; id < uint64(len(n.ids)) {
			below[i].ID = n.ids[id]
		}
	}
	results, err := n.Market.Submit(a, below)
	var unknown *market.UnknownError
	if errors.As(err, &unknown) {
		return nil, &market.UnknownError{Index: unknown.Index, ID: batch[unknown.Index].ID}
	}
	for i := range results {
		r := &results[i]
		if !batch[i].Cancel {
			if n.numbers[r.ID] != 0 {
				panic("two orders have one id")
			}
			n.numbers[r.ID] = uint64(len(n.ids))
			n.ids = append(n.ids, r.ID)
		}
		r.ID = n.numbers[r.ID]
		for k := range r.Trades {
			t := &r.Trades[k]
			t.Maker, t.Taker = n.numbers[t.Maker], n.numbers[t.Taker]
		}
	}
	return results, err
}
