package wire

// A Message is one instruction as it was sent. Fields that were not sent are zero.
type Message struct {
	Op       string
	Account  string
	Ref      string
	Symbol   string
	Side     string
	TIF      string
	ID       string
	Price    int64
	Quantity int64
	sent     fields
}

// Fields is a set of the fields of a message.
type fields uint16

const (
	fieldOp fields = 1 << iota
	fieldAccount
	fieldRef
	fieldSymbol
	fieldSide
	fieldTIF
	fieldID
	fieldPrice
	fieldQuantity
)

// What the two kinds of message consist of.
const (
	newFields    = fieldOp | fieldAccount | fieldRef | fieldSymbol | fieldSide | fieldTIF | fieldPrice | fieldQuantity
	cancelFields = fieldOp | fieldAccount | fieldID
)

var fieldNames = [...]string{"op", "account", "ref", "symbol", "side", "tif", "id", "price", "quantity"}

// fieldOf returns the field with this name, 0 if there is none.
func fieldOf(name []byte) fields {
	switch string(name) {
	case "op":
		return fieldOp
	case "account":
		return fieldAccount
	case "ref":
		return fieldRef
	case "symbol":
		return fieldSymbol
	case "side":
		return fieldSide
	case "tif":
		return fieldTIF
	case "id":
		return fieldID
	case "price":
		return fieldPrice
	case "quantity":
		return fieldQuantity
	}
	return 0
}

// first returns the name of the first field of the set, which must not be empty.
func (f fields) first() string {
	for i, name := range fieldNames {
		if f&(1<<i) != 0 {
			return name
		}
	}
	panic("wire: first of no fields")
}
