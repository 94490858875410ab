package market

// A ladder has the levels of one side of a book: one for each price within the
// collar, so that a price is an index, and the next price the next level.
type ladder[Q any] struct {
	levels []level[Q] // the first one is that of price low
	low    int64
	sign   int // 1: the highest price is the best; -1: the lowest
	best   int // the level with the best price, or none
}

// A level has the orders at one price. Where total is that of what remains of
// them,
//
//	count = orders in queue and total = sum of their Remaining
type level[Q any] struct {
	total int64 // lots
	count int
	queue Q
}

// none is the best level of a ladder without orders.
const none = -1

func newLadder[Q any](reference int64, sign int) ladder[Q] {
	return ladder[Q]{levels: make([]level[Q], 2*Collar+1), low: reference - Collar, sign: sign, best: none}
}

// at returns the level of a price.
func (l *ladder[Q]) at(price int64) *level[Q] { return &l.levels[price-l.low] }

// price returns the price of level i.
func (l *ladder[Q]) price(i int) int64 { return l.low + int64(i) }

// reaches reports whether an order of the other side with this limit trades with
// the best level.
func (l *ladder[Q]) reaches(limit int64) bool {
	return l.best != none && int64(l.sign)*l.price(l.best) >= int64(l.sign)*limit
}

// added takes note of an order with quantity lots that came to the level of
// price.
func (l *ladder[Q]) added(price, lots int64) {
	v := l.at(price)
	v.count++
	v.total += lots
	if i := int(price - l.low); l.best == none || l.sign*i > l.sign*l.best {
		l.best = i
	}
}

// removed takes note of an order that went from the level of price, with what was
// left of it.
func (l *ladder[Q]) removed(price, lots int64) {
	v := l.at(price)
	v.count--
	v.total -= lots
	if v.count == 0 && int(price-l.low) == l.best {
		l.best = l.next(l.best)
	}
}

// next returns the next level with orders after level i, from better to worse, or
// none.
func (l *ladder[Q]) next(i int) int {
	for i -= l.sign; i >= 0 && i < len(l.levels); i -= l.sign {
		if l.levels[i].count > 0 {
			return i
		}
	}
	return none
}
