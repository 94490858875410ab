package wire_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

var directory = market.NewDirectory(10, 10)

func TestTranslate(t *testing.T) {
	messages, err := wire.Parse(nil, []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.Translate(nil, directory, messages)
	want := []market.Instruction{
		{Account: 1, Symbol: 3, Side: market.Buy, Price: 9990, Quantity: 25, Ref: "my-17"},
		{Cancel: true, Account: 1, ID: 1_000_000},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v and error %v, want %+v", got, err, want)
	}
	messages, err = wire.Parse(nil, []byte(strings.NewReplacer("buy", "sell", "gtc", "ioc").Replace(sample)))
	if err != nil {
		t.Fatal(err)
	}
	got, err = wire.Translate(nil, directory, messages)
	if err != nil || got[0].Side != market.Sell || !got[0].Immediate {
		t.Errorf("got %+v and error %v, want an immediate sell order", got, err)
	}
}

func TestFieldErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"new"`, `"buy"`, `orders[1].op: "buy" is no operation (want "new" or "cancel")`},
		{`"op":"new",`, ``, `orders[1].op: "" is no operation (want "new" or "cancel")`},
		{`"account":"acct-0001",`, ``, `orders[1].account: is missing, and required to enter an order`},
		{`,"quantity":25`, ``, `orders[1].quantity: is missing, and required to enter an order`},
		{`"quantity":25`, `"quantity":25,"id":""`, `orders[1].id: is not allowed to enter an order`},
		{`acct-0001`, `acct-0010`, `orders[1].account: there is no account "acct-0010"`},
		{`acct-0001`, strings.Repeat("a", 50000), `orders[1].account: there is no account "` + strings.Repeat("a", 40) + `"`},
		{`HVN003`, `HVN010`, `orders[1].symbol: there is no symbol "HVN010"`},
		{`"buy"`, `"byu"`, `orders[1].side: "byu" is no side (want "buy" or "sell")`},
		{`"gtc"`, `"GTC"`, `orders[1].tif: "GTC" is no time in force (want "gtc" or "ioc")`},
		{`9990`, `0`, `orders[1].price: 0 is not positive`},
		{`9990`, `-9990`, `orders[1].price: -9990 is not positive`},
		{`9990`, `9749`, `orders[1].price: 9749 is not within 9750 and 10250, the bounds for HVN003`},
		{`9990`, `9223372036854775807`, `orders[1].price: 9223372036854775807 is not within 9750 and 10250, the bounds for HVN003`},
		{`:25`, `:0`, `orders[1].quantity: 0 is not positive`},
		{`:25`, `:-1`, `orders[1].quantity: -1 is not positive`},
		{`:25`, `:1000000001`, `orders[1].quantity: 1000000001 is above 1000000000`},
		{`my-17`, ``, `orders[1].ref: "" is no reference (want 1 to 16 letters, digits, or any of - _ . : /)`},
		{`my-17`, `12345678901234567`, `orders[1].ref: "12345678901234567" is no reference (want 1 to 16 letters, digits, or any of - _ . : /)`},
		{`my-17`, `my\"17`, `orders[1].ref: "my\"17" is no reference (want 1 to 16 letters, digits, or any of - _ . : /)`},
	} {
		fieldError(t, newOrder, c.old, c.new, c.want)
	}
	for _, c := range []struct{ old, new, want string }{
		{`,"id":"00000000000f4240"`, ``, `orders[1].id: is missing, and required to cancel an order`},
		{`}`, `,"ref":"r"}`, `orders[1].ref: is not allowed to cancel an order`},
		{`00000000000f4240`, `f4240`, `orders[1].id: "f4240" is no order id (want 16 hexadecimal digits)`},
		{`00000000000f4240`, `00000000000f424g`, `orders[1].id: "00000000000f424g" is no order id (want 16 hexadecimal digits)`},
		{`00000000000f4240`, `+0000000000f4240`, `orders[1].id: "+0000000000f4240" is no order id (want 16 hexadecimal digits)`},
	} {
		fieldError(t, cancelOrder, c.old, c.new, c.want)
	}
	for _, fits := range []struct{ old, new string }{
		{`9990`, `9750`}, {`9990`, `10250`}, {`:25`, `:1000000000`}, {`my-17`, `aZ09-_.:/3456789`},
	} {
		fieldError(t, newOrder, fits.old, fits.new, "")
	}
}

// fieldError changes the second message of a request and looks at the error.
func fieldError(t *testing.T, message, old, new, want string) {
	t.Helper()
	changed := strings.Replace(message, old, new, 1)
	if changed == message {
		t.Fatalf("%s has no %s", message, old)
	}
	messages, err := wire.Parse(nil, []byte(`{"orders":[`+newOrder+`,`+changed+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	batch, err := wire.Translate(nil, directory, messages)
	if want == "" {
		if err != nil || len(batch) != 2 {
			t.Errorf("%s: %v", changed, err)
		}
		return
	}
	var field *wire.FieldError
	if !errors.As(err, &field) || field.Index != 1 || err.Error() != want {
		t.Errorf("%.200s:\n got %v\nwant %s", changed, err, want)
	}
}
