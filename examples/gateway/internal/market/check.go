package market

import "fmt"

func (e *engine[Q, R]) Check() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum := 0
	for i := range e.books {
		b := &e.books[i]
		for side := range b.sides {
			n, err := e.checkLadder(uint16(i), Side(side), &b.sides[side])
			if err != nil {
				return fmt.Errorf("market: symbol %d: %v: %w", i, Side(side), err)
			}
			sum += n
		}
		if bid, ask := &b.sides[Buy], &b.sides[Sell]; bid.best != none && ask.best != none && bid.best >= ask.best {
			return fmt.Errorf("market: symbol %d is crossed: %d is bid and %d asked", i, bid.price(bid.best), ask.price(ask.best))
		}
	}
	if sum != e.store.Len() {
		return fmt.Errorf("market: %d orders in the books, %d in the store", sum, e.store.Len())
	}
	return nil
}

// checkLadder checks one side and returns how many orders it has.
func (e *engine[Q, R]) checkLadder(symbol uint16, side Side, l *ladder[Q]) (orders int, err error) {
	best := none
	for i := range l.levels {
		v := &l.levels[i]
		var count int
		var total int64
		e.store.All(&v.queue, func(o *Order) {
			count++
			total += int64(o.Remaining)
			if o.Remaining <= 0 || int64(o.Price) != l.price(i) || o.Side != side || o.Symbol != symbol {
				err = fmt.Errorf("level %d has %+v", l.price(i), *o)
			}
			if e.store.Get(e.store.Find(o.ID)) != o {
				err = fmt.Errorf("level %d has %+v, which is not found by its id", l.price(i), *o)
			}
		})
		if err == nil && (count != v.count || total != v.total) {
			err = fmt.Errorf("level %d has %d orders with %d lots and says %d with %d", l.price(i), count, total, v.count, v.total)
		}
		if err != nil {
			return 0, err
		}
		if count > 0 && (best == none || l.sign > 0) {
			best = i
		}
		orders += count
	}
	if best != l.best {
		err = fmt.Errorf("the best level is %d, and %d is taken for it", best, l.best)
	}
	return orders, err
}
