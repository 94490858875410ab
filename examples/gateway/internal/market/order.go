package market

// A Side is that of an order.
type Side uint8

// The two sides of a book.
const (
	Buy Side = iota
	Sell
)

// String returns the name of the side on the wire.
func (s Side) String() string {
	if s == Buy {
		return "buy"
	}
	return "sell"
}

// Bounds of what an order may say.
const (
	MaxQuantity = 1_000_000_000
	MaxRef      = 16 // bytes of an order's reference, none of them zero
)

// An Instruction is one of a batch: a new order, or a cancel of one that rests.
type Instruction struct {
	Cancel  bool
	Account uint32 // who gives it, see [Directory]

	ID uint64 // of the order to cancel

	// A new order only.
	Symbol    uint16
	Side      Side
	Immediate bool   // what is not filled at once expires, and does not rest
	Price     int64  // in ticks
	Quantity  int64  // in lots
	Ref       string // the client's own name for the order, at most MaxRef bytes
}

// A Status says what became of an instruction.
type Status uint8

// What became of an instruction.
const (
	Resting   Status = iota // a new order that is in the book, filled in part or not at all
	Filled                  // a new order that was filled
	Expired                 // a new order that was immediate, and not filled in full
	Cancelled               // a cancel: the order is out of the book
	Gone                    // a cancel: an instruction before it in the batch filled or cancelled the order
)

// String returns the name of the status on the wire.
func (s Status) String() string {
	return [...]string{"resting", "filled", "expired", "cancelled", "gone"}[s]
}

// A Result is what became of one instruction.
type Result struct {
	ID        uint64 // of the order, new or cancelled
	Ref       string // of the order
	Status    Status
	Filled    int64   // lots of a new order
	Remaining int64   // lots that rest, expired or were cancelled
	Trades    []Trade // of a new order, in the order in which they were made
}

// A Trade is between an order that rested and one that came. It is made at the
// price of the one that rested.
type Trade struct {
	Price, Quantity int64
	Maker, Taker    uint64 // the orders: the one that rested and the one that came
}
