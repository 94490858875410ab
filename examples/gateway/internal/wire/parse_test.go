package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

const (
	newOrder    = `{"op":"new","account":"acct-0001","ref":"my-17","symbol":"HVN003","side":"buy","tif":"gtc","price":9990,"quantity":25}`
	cancelOrder = `{"op":"cancel","account":"acct-0001","id":"00000000000f4240"}`
	sample      = "{\"orders\": [\n\t" + newOrder + ",\r\n " + cancelOrder + " ] }\n"
)

func TestParse(t *testing.T) {
	want := []wire.Message{
		{Op: "new", Account: "acct-0001", Ref: "my-17", Symbol: "HVN003", Side: "buy", TIF: "gtc", Price: 9990, Quantity: 25},
		{Op: "cancel", Account: "acct-0001", ID: "00000000000f4240"},
	}
	for _, a := range []*arena.Arena{nil, arena.NewArena()} {
		body := []byte(sample)
		got, err := wire.Parse(a, body)
		if err != nil {
			t.Fatal(err)
		}
		clear(body) // as the next request does
		if len(got) != len(want) {
			t.Fatalf("got %d messages, want %d", len(got), len(want))
		}
		for i := range want {
			if exported(got[i]) != exported(want[i]) {
				t.Errorf("message %d:\n got %+v\nwant %+v", i, got[i], want[i])
			}
		}
	}
}

// exported prints the exported fields of a message.
func exported(m wire.Message) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestSyntaxErrors(t *testing.T) {
	one := func(message string) string { return `{"orders":[` + message + `]}` }
	for _, c := range []struct{ in, want string }{
		{``, `line 1, column 1: unexpected end of request (want '{')`},
		{`[]`, `line 1, column 1: unexpected '[' (want '{')`},
		{`{}`, `line 1, column 2: unexpected '}' (want "orders")`},
		{`{"order":[]}`, `line 1, column 2: unknown field "order" (want "orders")`},
		{`{"orders" []}`, `line 1, column 11: unexpected '[' (want ':')`},
		{`{"orders":{}}`, `line 1, column 11: unexpected '{' (want '[')`},
		{`{"orders":[]}`, `line 1, column 14: "orders" has no instructions`},
		{`{"orders":[]`, `line 1, column 13: unexpected end of request (want '}')`},
		{`{"orders":[{}]} x`, `line 1, column 17: unexpected 'x' (want the end of the request)`},
		{one(`{},`), `line 1, column 15, orders[1]: unexpected ']' (want '{')`},
		{one(`{} {}`), `line 1, column 15, orders[0]: unexpected '{' (want ',' or ']')`},
		{one(`null`), `line 1, column 12, orders[0]: unexpected 'n' (want '{')`},
		{one(`{1`), `line 1, column 13, orders[0]: unexpected '1' (want the name of a field)`},
		{one(`{"op":"new",}`), `line 1, column 24, orders[0]: unexpected '}' (want the name of a field)`},
		{one(`{"op":"new" "id":""}`), `line 1, column 24, orders[0]: unexpected '"' (want ',' or '}')`},
		{one(`{"op":"new","op":"new"}`), `line 1, column 24, orders[0]: field "op" for the second time`},
		{one(`{},{"qty":1}`), `line 1, column 16, orders[1]: unknown field "qty"`},
		{one(`{"op":1}`), `line 1, column 18, orders[0].op: unexpected '1' (want a string)`},
		{one(`{"op":null}`), `line 1, column 18, orders[0].op: unexpected 'n' (want a string)`},
		{one(`{"op":"n`), `line 1, column 22, orders[0].op: unexpected end of request in a string (want a closing quote)`},
		{one("{\"op\":\"n\n\"}"), `line 1, column 20, orders[0].op: unexpected '\n' in a string (want it escaped)`},
		{"{\"orders\":\n[{\n\"op\":\"\\q\"}]}", `line 3, column 6, orders[0].op: string has an escape that JSON does not know`},
		{one("{\"op\":\"\xff\"}"), `line 1, column 18, orders[0].op: string is not UTF-8`},
		{one("{\"op\":\xff}"), `line 1, column 18, orders[0].op: unexpected byte 0xff (want a string)`},
		{one(`{"price":"1"}`), `line 1, column 21, orders[0].price: unexpected '"' (want a whole number)`},
		{one(`{"price":-}`), `line 1, column 22, orders[0].price: unexpected '}' (want a whole number)`},
		{one(`{"price":1.5}`), `line 1, column 21, orders[0].price: number is not a whole one, written without fraction and exponent`},
		{one(`{"price":1e3}`), `line 1, column 21, orders[0].price: number is not a whole one, written without fraction and exponent`},
		{one(`{"price":007}`), `line 1, column 21, orders[0].price: number begins with 0`},
		{one(`{"quantity":9223372036854775808}`), `line 1, column 24, orders[0].quantity: number is too large`},
		{one(strings.Repeat(`{},`, 64) + `{}`), `line 1, column 204, orders[64]: more than 64 instructions`},
		{one(`{"` + strings.Repeat("x", 100) + `":1}`), `line 1, column 13, orders[0]: unknown field "` + strings.Repeat("x", 40) + `"`},
	} {
		_, err := wire.Parse(nil, []byte(c.in))
		var syntax *wire.SyntaxError
		if !errors.As(err, &syntax) || err.Error() != c.want {
			t.Errorf("Parse(%.60q):\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

// TestLargestNumber is just below what is too large.
func TestLargestNumber(t *testing.T) {
	for _, n := range []int64{1<<63 - 1, -(1<<63 - 1), 0} {
		got, err := wire.Parse(nil, fmt.Appendf(nil, `{"orders":[{"price":%d}]}`, n))
		if err != nil || got[0].Price != n {
			t.Errorf("%d: got %+v and error %v", n, got, err)
		}
	}
}

// TestTruncatedAnywhere cuts a request off and changes it everywhere, and compares
// with encoding/json.
func TestTruncatedAnywhere(t *testing.T) {
	const other = "\x00 \"\\/u,:[]{}-0.9e\xc3"
	for i := range len(sample) {
		agree(t, []byte(sample[:i]))
		agree(t, []byte(sample[i:]))
		for j := range len(other) {
			agree(t, []byte(sample[:i]+other[j:j+1]+sample[i:]))
			agree(t, []byte(sample[:i]+other[j:j+1]+sample[i+1:]))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"orders":[{"price":-1,"quantity":0},{"ref":"\u00e9\ud83d\ude00"},{}]}`))
	f.Add([]byte(`{"\u006frders":[{"o\u0070":"","op":""}]}`))
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}

// agree checks that Parse accepts no more than encoding/json, and takes the same
// for the same; what it must not accept beyond that is in TestSyntaxErrors.
func agree(t *testing.T, body []byte) {
	t.Helper()
	got, err := wire.Parse(nil, body)
	inArena, arenaErr := wire.Parse(arena.NewArena(), body)
	if !reflect.DeepEqual(err, arenaErr) || !reflect.DeepEqual(got, inArena) {
		t.Fatalf("%q: %v and error %v on the heap, %v and error %v in an arena", body, got, err, inArena, arenaErr)
	}
	var want struct {
		Orders []struct {
			Op, Account, Ref, Symbol, Side, TIF, ID string
			Price, Quantity                         int64
		}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	wantErr := dec.Decode(&want)
	if _, end := dec.Token(); wantErr == nil && end != io.EOF {
		wantErr = errors.New("there is more")
	}
	if err != nil {
		return
	}
	if wantErr != nil {
		t.Fatalf("%q: Parse takes it for %+v, encoding/json: %v", body, got, wantErr)
	}
	if len(got) != len(want.Orders) {
		t.Fatalf("%q: %d messages, encoding/json has %d", body, len(got), len(want.Orders))
	}
	for i, w := range want.Orders {
		m := wire.Message{
			Op: w.Op, Account: w.Account, Ref: w.Ref, Symbol: w.Symbol, Side: w.Side, TIF: w.TIF, ID: w.ID,
			Price: w.Price, Quantity: w.Quantity,
		}
		if exported(got[i]) != exported(m) {
			t.Fatalf("%q: message %d is %+v, encoding/json has %+v", body, i, got[i], m)
		}
	}
}
