package wire

import (
	"strconv"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

// idLen is the number of digits of an order id.
const idLen = 16

// AppendResults appends a reply with the results of a batch:
//
//	{"results": [
//	  {"id": "…", "ref": "my-17", "status": "filled", "filled": 25, "remaining": 0,
//	   "trades": [{"price": 9990, "quantity": 25, "maker": "…"}]},
//	  {"id": "…", "ref": "my-16", "status": "cancelled", "filled": 0, "remaining": 5}
//	]}
//
// The taker of a trade is the order of the result. See [market.Result].
func AppendResults(b []byte, results []market.Result) []byte {
	b = append(b, `{"results":[`...)
	for i := range results {
		r := &results[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":"`...)
		b = AppendID(b, r.ID)
		b = append(b, `","ref":"`...)
		b = append(b, r.Ref...)
		b = append(b, `","status":"`...)
		b = append(b, r.Status.String()...)
		b = append(b, `","filled":`...)
		b = strconv.AppendInt(b, r.Filled, 10)
		b = append(b, `,"remaining":`...)
		b = strconv.AppendInt(b, r.Remaining, 10)
		if len(r.Trades) > 0 {
			b = append(b, `,"trades":[`...)
			b = appendTrades(b, r.Trades)
			b = append(b, ']')
		}
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}

func appendTrades(b []byte, trades []market.Trade) []byte {
	for i := range trades {
		t := &trades[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"price":`...)
		b = strconv.AppendInt(b, t.Price, 10)
		b = append(b, `,"quantity":`...)
		b = strconv.AppendInt(b, t.Quantity, 10)
		b = append(b, `,"maker":"`...)
		b = AppendID(b, t.Maker)
		b = append(b, `"}`...)
	}
	return b
}

// SizeOf returns about how many bytes a reply with these results takes, and
// rarely too few.
func SizeOf(results []market.Result) int {
	n := 32 + 128*len(results)
	for i := range results {
		n += 80 * len(results[i].Trades)
	}
	return n
}

// AppendID appends the id of an order as it is written in requests and replies.
func AppendID(b []byte, id uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[id>>shift&15])
	}
	return b
}
