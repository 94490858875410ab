package market

import "github.com/haven-mem/haven/arena"

// A book has the resting orders of one symbol. Between two instructions,
//
//	best price of the buyers < best price of the sellers
type book[Q, R any] struct {
	sides [2]ladder[Q] // by Side
}

// enter matches a new order and puts what is left of it into the book, unless it
// is immediate. Trades are appended in a.
func (b *book[Q, R]) enter(s Store[Q, R], a *arena.Arena, in *Instruction, out *Result) {
	id := s.Open()
	out.ID, out.Ref, out.Remaining = id, in.Ref, in.Quantity
	b.match(s, a, in, out)
	switch {
	case out.Remaining == 0:
		out.Status = Filled
		s.Drop(id)
	case in.Immediate:
		out.Status = Expired
		s.Drop(id)
	default:
		out.Status = Resting
		side := &b.sides[in.Side]
		side.added(in.Price, out.Remaining)
		s.Push(&side.at(in.Price).queue, Order{
			ID: id, Price: int32(in.Price), Remaining: int32(out.Remaining),
			Account: in.Account, Symbol: in.Symbol, Side: in.Side,
		}, in.Ref)
	}
}

// match trades with the orders of the other side, the best price first, and at
// one price the order that has rested longest.
func (b *book[Q, R]) match(s Store[Q, R], a *arena.Arena, in *Instruction, out *Result) {
	other := &b.sides[1-in.Side]
	for out.Remaining > 0 && other.reaches(in.Price) {
		price := other.price(other.best)
		l := other.at(price)
		maker := s.First(&l.queue)
		n := min(int64(maker.Remaining), out.Remaining)
		out.Trades = appendTrade(a, out.Trades, Trade{price, n, maker.ID, out.ID})
		out.Remaining -= n
		out.Filled += n
		l.total -= n
		if maker.Remaining -= int32(n); maker.Remaining == 0 {
			s.Pop(&l.queue)
			other.removed(price, 0)
		}
	}
}

// appendTrade appends to a slice in a. There is no way back once orders have
// changed, so where a has reached its limit the slice moves to Go's heap: there
// are never more trades than orders, those that rested included.
func appendTrade(a *arena.Arena, s []Trade, t Trade) []Trade {
	if len(s) == cap(s) {
		if grown, err := arena.TryMakeSlice[Trade](a, len(s), max(2, 2*len(s))); err == nil {
			copy(grown, s)
			s = grown
		}
	}
	return append(s, t)
}

// cancel takes a resting order, to which the store refers as r, out of the book.
func (b *book[Q, R]) cancel(s Store[Q, R], r R, o *Order, out *Result) {
	side, price := &b.sides[o.Side], int64(o.Price)
	out.Status, out.Remaining = Cancelled, int64(o.Remaining)
	s.Remove(&side.at(price).queue, r) // ends o
	side.removed(price, out.Remaining)
}
