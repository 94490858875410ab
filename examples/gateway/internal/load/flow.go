package load

import (
	"fmt"
	"math/rand/v2"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

// Kinds of instructions.
const (
	deep   = iota // a new order that nobody will fill
	cancel        // of one
	near          // a new order that somebody may fill
	take          // an immediate order that trades with those
)

// shares are how many of 100 instructions are of a kind: a deck. As many orders
// come as are cancelled, and as many near ones as are taken.
var shares = [...]int{deep: 42, cancel: 42, near: 8, take: 8}

const (
	touch     = 5   // ticks from the middle within which orders trade
	farthest  = 200 // ticks from the middle
	templates = 64  // of a client's requests
)

// A flow is what one client sends. Bodies come from templates, which are used in
// turn.
type flow struct {
	client    int
	rng       *rand.Rand
	deck      []int // kinds still to come, shuffled
	templates []template
	turn      int
	resting   []owned // deep orders
	refs      int     // used so far
}

// An owned order is one that can be cancelled.
type owned struct {
	id      uint64
	account uint32
}

// A template is a request whose variable parts have a fixed width.
type template struct {
	body    []byte
	count   int     // instructions
	refs    []int   // where the digits of references are
	cancels []blank // where cancels have their orders
	deep    []deepOrder
}

// A blank is where the digits of an order to cancel go.
type blank struct{ account, id int }

// A deepOrder is one whose id the reply will have.
type deepOrder struct {
	index   int // of its instruction
	account uint32
}

// newFlow returns the flow of a client. It depends on the number of the client and
// on what replies it gets, so two gateways can be given the same.
func newFlow(client int) *flow {
	f := &flow{client: client, rng: rand.New(rand.NewPCG(uint64(client), 17))}
	var sizes [templates]int
	sum := 0
	for i := range sizes {
		sizes[i] = 1 + f.rng.IntN(wire.MaxBatch)
		sum += sizes[i]
	}
	// With a whole number of decks, all templates together leave as many orders as
	// there were.
	for sum%100 != 0 {
		if i := f.rng.IntN(templates); sizes[i] < wire.MaxBatch {
			sizes[i]++
			sum++
		}
	}
	for _, n := range sizes {
		f.templates = append(f.templates, f.render(n, f.deal))
	}
	return f
}

// deal returns the kind of the next instruction. All shares come out exactly in
// each 100.
func (f *flow) deal() int {
	if len(f.deck) == 0 {
		for kind, n := range shares {
			for range n {
				f.deck = append(f.deck, kind)
			}
		}
		f.rng.Shuffle(len(f.deck), func(i, j int) { f.deck[i], f.deck[j] = f.deck[j], f.deck[i] })
	}
	kind := f.deck[len(f.deck)-1]
	f.deck = f.deck[:len(f.deck)-1]
	return kind
}

// render makes a template of n instructions.
func (f *flow) render(n int, kindOf func() int) template {
	t := template{count: n}
	b := append([]byte(nil), `{"orders":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		account := uint32(f.rng.IntN(market.Accounts))
		kind := kindOf()
		if kind == cancel {
			b = append(b, `{"op":"cancel","account":"acct-`...)
			at := blank{account: len(b)}
			b = append(b, `0000","id":"`...)
			at.id = len(b)
			b = wire.AppendID(b, 0)
			b = append(b, `"}`...)
			t.cancels = append(t.cancels, at)
			continue
		}
		b = fmt.Appendf(b, `{"op":"new","account":"acct-%04d","ref":"c%03d-`, account, f.client)
		t.refs = append(t.refs, len(b))
		side, price, tif := f.terms(kind)
		b = fmt.Appendf(b, `%0*d","symbol":"HVN%03d","side":"%v","tif":"%s","price":%d,"quantity":%d}`,
			refDigits, 0, f.rng.IntN(market.Symbols), side, tif, price, 1+f.rng.IntN(20))
		if kind == deep {
			t.deep = append(t.deep, deepOrder{i, account})
		}
	}
	t.body = append(b, `]}`...)
	return t
}

const refDigits = 9

// terms returns side, price and time in force of an order.
func (f *flow) terms(kind int) (side market.Side, price int64, tif string) {
	side = market.Side(f.rng.IntN(2))
	tif = "gtc"
	var away int // ticks from the middle, to the worse
	switch kind {
	case deep:
		// Most are near to where orders trade, and few are far away.
		away = min(touch+1+int(f.rng.ExpFloat64()*50), farthest)
	case near:
		away = 1 + f.rng.IntN(touch)
	case take:
		away = -touch
		tif = "ioc"
	}
	if side == market.Buy {
		away = -away
	}
	return side, 10_000 + int64(away), tif
}

// next returns the next request to send, filled in. It is good until the next
// call.
func (f *flow) next() *template {
	t := &f.templates[f.turn%len(f.templates)]
	f.turn++
	f.fill(t)
	return t
}

// fill fills in the variable parts of t: references that are new, and orders to
// cancel, which count as cancelled from now on.
func (f *flow) fill(t *template) {
	for _, at := range t.refs {
		f.refs++
		putDecimal(t.body[at:at+refDigits], f.refs)
	}
	for _, at := range t.cancels {
		i := f.rng.IntN(len(f.resting))
		o := f.resting[i]
		last := len(f.resting) - 1
		f.resting[i] = f.resting[last]
		f.resting = f.resting[:last]
		putDecimal(t.body[at.account:at.account+4], int(o.account))
		wire.AppendID(t.body[at.id:at.id], o.id)
	}
}

// putDecimal writes n into b with leading zeros.
func putDecimal(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}
