package wire

import (
	"fmt"
	"strconv"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

// Translate makes instructions, in a, of messages. The instructions share the
// references of the messages. An error is a *FieldError and names the first field
// that the market does not take. Translate panics with an *arena.LimitError if a
// is full.
func Translate(a *arena.Arena, d *market.Directory, messages []Message) ([]market.Instruction, error) {
	batch := arena.MakeSlice[market.Instruction](a, len(messages), len(messages))
	for i := range messages {
		if field, msg := translate(d, &messages[i], &batch[i]); msg != "" {
			return nil, &FieldError{i, field, msg}
		}
	}
	return batch, nil
}

// translate makes an instruction of a message, or says what is wrong with which
// field.
func translate(d *market.Directory, m *Message, in *market.Instruction) (field, msg string) {
	want := newFields
	switch m.Op {
	case "new":
	case "cancel":
		in.Cancel = true
		want = cancelFields
	default:
		return "op", fmt.Sprintf(`%.40q is no operation (want "new" or "cancel")`, m.Op)
	}
	if missing := want &^ m.sent; missing != 0 {
		return missing.first(), fmt.Sprintf("is missing, and required to %s", purpose(in))
	}
	if extra := m.sent &^ want; extra != 0 {
		return extra.first(), fmt.Sprintf("is not allowed to %s", purpose(in))
	}
	account, ok := d.Account(m.Account)
	if !ok {
		return "account", fmt.Sprintf("there is no account %.40q", m.Account)
	}
	in.Account = account
	if in.Cancel {
		if in.ID, ok = parseID(m.ID); !ok {
			return "id", fmt.Sprintf("%.40q is no order id (want 16 hexadecimal digits)", m.ID)
		}
		return "", ""
	}
	return translateNew(d, m, in)
}

// translateNew does what only a new order needs.
func translateNew(d *market.Directory, m *Message, in *market.Instruction) (field, msg string) {
	symbol, ok := d.Symbol(m.Symbol)
	if !ok {
		return "symbol", fmt.Sprintf("there is no symbol %.40q", m.Symbol)
	}
	switch m.Side {
	case "buy":
		in.Side = market.Buy
	case "sell":
		in.Side = market.Sell
	default:
		return "side", fmt.Sprintf(`%.40q is no side (want "buy" or "sell")`, m.Side)
	}
	switch m.TIF {
	case "gtc":
	case "ioc":
		in.Immediate = true
	default:
		return "tif", fmt.Sprintf(`%.40q is no time in force (want "gtc" or "ioc")`, m.TIF)
	}
	reference := d.Symbols[symbol].Reference
	switch low, high := reference-market.Collar, reference+market.Collar; {
	case m.Price <= 0:
		return "price", fmt.Sprintf("%d is not positive", m.Price)
	case m.Price < low || m.Price > high:
		return "price", fmt.Sprintf("%d is not within %d and %d, the bounds for %s", m.Price, low, high, m.Symbol)
	case m.Quantity <= 0:
		return "quantity", fmt.Sprintf("%d is not positive", m.Quantity)
	case m.Quantity > market.MaxQuantity:
		return "quantity", fmt.Sprintf("%d is above %d", m.Quantity, market.MaxQuantity)
	case !isRef(m.Ref):
		return "ref", fmt.Sprintf(`%.40q is no reference (want 1 to %d letters, digits, or any of - _ . : /)`, m.Ref, market.MaxRef)
	}
	in.Symbol, in.Price, in.Quantity, in.Ref = symbol, m.Price, m.Quantity, m.Ref
	return "", ""
}

// purpose says what an instruction is for.
func purpose(in *market.Instruction) string {
	if in.Cancel {
		return "cancel an order"
	}
	return "enter an order"
}

// isRef reports whether s may be a reference. What may goes into a reply as it
// is, without escapes.
func isRef(s string) bool {
	if len(s) == 0 || len(s) > market.MaxRef {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', isDigit(c):
		case c == '-', c == '_', c == '.', c == ':', c == '/':
		default:
			return false
		}
	}
	return true
}

// parseID reads the id of an order, and reports whether it is one.
func parseID(s string) (uint64, bool) {
	if len(s) != idLen {
		return 0, false
	}
	id, err := strconv.ParseUint(s, 16, 64)
	return id, err == nil
}
